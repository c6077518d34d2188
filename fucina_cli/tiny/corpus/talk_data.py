"""The small facts, words and sets of things that the chats of `talk` are about."""

from __future__ import annotations


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a table "left=right; left=right"."""
    rows = (row.split("=") for row in text.replace("\n", " ").split(";") if row.strip())
    return tuple((" ".join(left.split()), " ".join(right.split())) for left, right in rows)


def _words(text: str) -> tuple[str, ...]:
    """The entries of a table "one, two words, three"."""
    return tuple(" ".join(word.split()) for word in text.replace("\n", " ").split(","))


NAMES = _words("""Ana, Ben, Clara, David, Elena, Finn, Greta, Hugo, Ines, Jonas, Kira, Leo, Maria,
Nina, Oscar, Paula, Quinn, Rosa, Sam, Tom, Uma, Vera, Will, Xenia, Yara, Zoe, Adam, Bella, Carlo,
Diana, Emil, Flora, George, Hanna, Ivan, Julia, Karl, Lena, Marco, Nora, Otto, Petra, Ravi, Sofia,
Theo, Ursula, Victor, Wanda, Yusuf, Zara, Amir, Bruno, Chloe, Dora, Erik, Fatima, Gina, Henry, Ida,
Jack, Kemal, Lucy, Mia, Noah, Olga, Pablo, Rita, Simon, Tara, Vito, Aiko, Bao, Chidi, Dina, Esra,
Felix, Grace, Hiro, Isla, Jamal""")
SURNAMES = _words("""Rossi, Miller, Novak, Berg, Silva, Moreau, Hansen, Keller, Stone, Hill, Wood,
Field, Brook, Lane, Marsh, Winter, Summer, Baker, Carter, Fisher, Weaver, Potter, Costa, Lindt,
Okafor, Tanaka, Haddad, Petrov, Kaya, Olsen""")
DAYS = _words("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday")
MONTHS = _words("""January, February, March, April, May, June, July, August, September, October,
November, December""")
SEASONS = _words("spring, summer, autumn, winter")
PLANETS = _words("Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune")
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

#: Sets of things: plural, singular, members.
SETS: tuple[tuple[str, str, tuple[str, ...]], ...] = tuple(
    (names.split("/")[0], names.split("/")[1], _words(members))
    for names, members in _pairs("""fruits/fruit=apple, pear, plum, cherry, banana, orange, grape,
peach, mango, lemon; vegetables/vegetable=carrot, potato, onion, cabbage, spinach, pea, bean, leek,
beetroot, radish; animals/animal=dog, cat, horse, cow, sheep, goat, lion, elephant, bear, wolf,
fox, rabbit; birds/bird=eagle, owl, sparrow, crow, swan, robin, parrot, penguin, pigeon, stork;
insects/insect=ant, bee, fly, beetle, butterfly, wasp, moth, cricket, ladybird, mosquito;
fish/fish=salmon, trout, tuna, cod, herring, carp, eel, shark, sardine; flowers/flower=rose, tulip,
daisy, lily, violet, sunflower, poppy, orchid, iris, daffodil; trees/tree=oak, pine, birch, maple,
willow, ash, beech, elm, fir, palm; colours/colour=red, green, blue, yellow, orange, purple, brown,
black, white, grey, pink; shapes/shape=circle, triangle, square, rectangle, pentagon, hexagon,
oval, star, cube, sphere; instruments/instrument=guitar, piano, violin, drum, flute, trumpet, harp,
cello, organ, clarinet; sports/sport=football, tennis, swimming, running, cycling, skiing, rowing,
boxing, golf, hockey; jobs/job=baker, doctor, teacher, farmer, nurse, cook, driver, painter, pilot,
gardener, plumber; tools/tool=hammer, saw, drill, screwdriver, pliers, axe, spade, rake, wrench,
chisel; drinks/drink=water, milk, tea, coffee, juice, lemonade, cocoa, cider, soda; clothes/piece
of clothing=shirt, coat, hat, sock, scarf, dress, skirt, jacket, glove, sweater;
vehicles/vehicle=car, bus, train, bicycle, truck, tram, ship, plane, motorcycle, van;
rooms/room=kitchen, bedroom, bathroom, hall, cellar, attic, office, dining room, living room;
pieces of furniture/piece of furniture=table, chair, bed, sofa, desk, shelf, wardrobe, bench,
stool; body parts/body part=head, arm, leg, hand, foot, nose, ear, eye, knee, shoulder, finger;
planets/planet=Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune; days/day=Monday,
Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday; months/month=January, February, March,
April, May, June, July, August, September, October; metals/metal=iron, gold, silver, copper, tin,
zinc, lead, nickel, aluminium, titanium; spices/spice=pepper, cinnamon, ginger, saffron, nutmeg,
clove, cumin, paprika, vanilla, turmeric; school subjects/school subject=history, biology,
chemistry, physics, music, art, geography, maths; toys/toy=doll, ball, kite, puzzle, teddy bear,
yo-yo, marble, robot, rocking horse, spinning top; desserts/dessert=cake, pudding, ice cream, pie,
pancake, waffle, cookie, jelly, mousse; gemstones/gemstone=ruby, emerald, diamond, sapphire, opal,
topaz, amethyst, pearl, garnet; feelings/feeling=joy, anger, fear, hope, love, pride, envy, calm,
surprise, sadness; programming ideas/programming idea=loop, function, variable, class, list,
string, test, module; kitchen things/kitchen thing=pan, pot, knife, fork, spoon, plate, cup, bowl,
oven, kettle""")
)
CONTINENTS = _words("Africa, Antarctica, Asia, Australia, Europe, North America, South America")
OCEANS = _words("Atlantic, Pacific, Indian, Arctic, Southern")

OPPOSITES = _pairs("""hot=cold; up=down; big=small; fast=slow; high=low; long=short; old=new;
young=old; good=bad; day=night; light=dark; wet=dry; hard=soft; heavy=light; full=empty;
open=closed; happy=sad; rich=poor; strong=weak; thick=thin; wide=narrow; loud=quiet; clean=dirty;
early=late; first=last; left=right; inside=outside; above=below; before=after; begin=end;
start=stop; push=pull; win=lose; buy=sell; give=take; come=go; love=hate; laugh=cry; yes=no;
true=false; on=off; in=out; near=far; always=never; all=none; more=less; many=few; front=back;
top=bottom; north=south; east=west; black=white; alive=dead; awake=asleep; brave=afraid;
cheap=expensive; deep=shallow; easy=difficult; friend=enemy; smooth=rough; sharp=blunt;
simple=complex; sweet=bitter; tight=loose; war=peace; question=answer; arrive=leave; find=lose;
remember=forget; rise=fall; safe=dangerous; same=different; summer=winter; tall=short;
ugly=beautiful; warm=cool; wild=tame; wise=foolish; success=failure; entrance=exit;
forward=backward; float=sink; include=exclude; increase=decrease; polite=rude; possible=impossible;
public=private; wrong=right; sunrise=sunset; lucky=unlucky; positive=negative; maximum=minimum;
input=output; save=delete""")
PLURALS = _pairs("""child=children; mouse=mice; foot=feet; tooth=teeth; goose=geese; man=men;
woman=women; person=people; ox=oxen; leaf=leaves; knife=knives; wolf=wolves; wife=wives;
life=lives; loaf=loaves; city=cities; baby=babies; story=stories; berry=berries; key=keys;
day=days; boy=boys; box=boxes; bus=buses; fox=foxes; dish=dishes; church=churches; potato=potatoes;
tomato=tomatoes; hero=heroes; photo=photos; sheep=sheep; fish=fish; deer=deer; dog=dogs; cat=cats;
tree=trees; house=houses; book=books; car=cars; apple=apples; friend=friends; schema=schemas;
token=tokens""")
PASTS = _pairs("""go=went; come=came; see=saw; eat=ate; drink=drank; run=ran; sing=sang; swim=swam;
write=wrote; read=read; take=took; give=gave; make=made; find=found; buy=bought; bring=brought;
think=thought; know=knew; fly=flew; speak=spoke; sleep=slept; win=won; lose=lost; build=built;
break=broke; sit=sat; stand=stood; walk=walked; play=played; work=worked; say=said; tell=told""")
SYNONYMS = _pairs("""big=large; small=little; fast=quick; happy=glad; sad=unhappy; smart=clever;
begin=start; end=finish; rich=wealthy; hard=difficult; easy=simple; quiet=silent; angry=furious;
tired=sleepy; brave=bold; right=correct; wrong=false; near=close; shut=close; help=assist;
buy=purchase; choose=select; answer=reply; gift=present; road=street; error=mistake; job=work;
child=kid""")
RHYMES = _pairs("""cat=hat; house=mouse; tree=bee; moon=spoon; star=car; light=night; day=play;
rain=train; ring=king; bell=shell; cake=lake; dog=fog; fish=dish; boat=goat; sun=run; book=cook;
blue=shoe; red=bed; green=queen; snow=crow; ball=wall; cold=gold; bread=head; fox=box; pen=hen""")
COLOURS = _pairs("""the sky=blue; grass=green; snow=white; a banana=yellow; blood=red; coal=black;
the sun=yellow; a carrot=orange; milk=white; chocolate=brown; a lemon=yellow; the sea=blue; a
strawberry=red; a frog=green; an elephant=grey; a crow=black; a fire engine=red; a tomato=red; a
cucumber=green; a polar bear=white; a pig=pink; a swan=white; an orange=orange; a leaf=green; a
cherry=red; salt=white; a sunflower=yellow; mud=brown; the night=black; a flamingo=pink; a
pumpkin=orange; rust=brown; a blueberry=blue; a mouse=grey; sugar=white; spinach=green""")
SOUNDS = _pairs("""dog=woof; cat=meow; cow=moo; sheep=baa; duck=quack; pig=oink; horse=neigh;
mouse=squeak; lion=roar; snake=hiss; bee=buzz; owl=hoot; frog=croak; crow=caw; wolf=howl;
donkey=hee-haw; rooster=cock-a-doodle-doo; chick=cheep; turkey=gobble; bear=growl; dove=coo;
bird=tweet; goose=honk; tiger=roar; cuckoo=cuckoo; hen=cluck""")
YOUNG = _pairs("""dog=puppy; cat=kitten; cow=calf; sheep=lamb; horse=foal; pig=piglet;
duck=duckling; goose=gosling; hen=chick; goat=kid; bear=cub; lion=cub; deer=fawn; frog=tadpole;
swan=cygnet; kangaroo=joey; owl=owlet; eagle=eaglet; elephant=calf; whale=calf; fox=cub; wolf=pup;
seal=pup; tiger=cub; butterfly=caterpillar; rabbit=kit; hare=leveret; giraffe=calf""")
LEGS = _pairs("""dog=4; cat=4; horse=4; cow=4; spider=8; ant=6; bee=6; bird=2; duck=2; snake=0;
fish=0; beetle=6; fly=6; hen=2; sheep=4; elephant=4; frog=4; octopus=0; scorpion=8; butterfly=6;
person=2; lion=4; worm=0; penguin=2; table=4; mouse=4; whale=0; snail=0""")
HOMES = _pairs("""a bird=nest; a bee=hive; a bear=den; a fish=water; a spider=web; a dog=kennel; a
horse=stable; a pig=sty; a rabbit=burrow; a cow=barn; a lion=savanna; a camel=desert; a
penguin=ice; an ant=anthill; a monkey=jungle; a fox=den; a whale=sea; a squirrel=tree; a
king=castle; a person=house; a hen=coop; a mole=ground""")
SIDES = _pairs("""triangle=3; square=4; rectangle=4; pentagon=5; hexagon=6; heptagon=7; octagon=8;
nonagon=9; decagon=10; rhombus=4; trapezium=4""")
UNITS = _pairs("""seconds/minute=60; minutes/hour=60; hours/day=24; days/week=7; months/year=12;
weeks/year=52; days/year=365; centimetres/metre=100; metres/kilometre=1000; grams/kilogram=1000;
years/century=100; years/decade=10; millimetres/centimetre=10; seasons/year=4; letters/alphabet=26;
eggs/dozen=12; bits/byte=8; cents/euro=100; wheels/bicycle=2; wheels/car=4; strings/violin=4;
strings/guitar=6; keys/piano=88; players/football team=11; players/basketball team=5;
fingers/hand=5; days/weekend=2; colours/rainbow=7; planets/solar system=8; months/season=3;
degrees/circle=360; faces/cube=6; squares/chessboard=64; cards/full deck=52; quarters/whole=4;
halves/whole=2""")
JOBS = _pairs("""bakes bread=baker; teaches children=teacher; flies a plane=pilot; paints
pictures=painter; grows food=farmer; cooks in a restaurant=cook; puts out fires=firefighter;
repairs cars=mechanic; cuts hair=hairdresser; drives a bus=driver; writes books=author; plays
music=musician; helps sick people=doctor; heals animals=vet; builds houses=builder; repairs
pipes=plumber; sells meat=butcher; catches fish=fisher; designs buildings=architect; writes
programs=programmer; makes clothes=tailor; delivers letters=postman; looks after teeth=dentist;
works in a garden=gardener; acts in films=actor; takes photos=photographer; makes
furniture=carpenter; flies into space=astronaut; sings songs=singer; dances on a stage=dancer;
works in a library=librarian; draws maps=cartographer; serves guests=waiter; studies the
stars=astronomer; reports the news=journalist; judges in a court=judge; sails a ship=sailor""")
MADE_OF = _pairs("""bread=flour; wine=grapes; cheese=milk; paper=wood; glass=sand; butter=milk;
chocolate=cocoa; wool=sheep hair; ice=water; a candle=wax; a tyre=rubber; a brick=clay;
yoghurt=milk; orange juice=oranges; a raisin=grapes; steel=iron; pasta=flour; jam=fruit; tofu=soy
beans; a window=glass; a snowman=snow; popcorn=maize; beer=barley; a sandcastle=sand;
leather=animal skin; an omelette=eggs; a cloud=water; honey=nectar; an
igloo=snow""")
USES = _pairs("""cut paper=scissors; write=a pen; drive a nail=a hammer; see=your eyes; hear=your
ears; smell=your nose; taste=your tongue; think=your brain; eat soup=a spoon; cut bread=a knife;
tell the time=a clock; stay dry in the rain=an umbrella; open a lock=a key; brush your teeth=a
toothbrush; sweep the floor=a broom; measure length=a ruler; look at the stars=a telescope; dig a
hole=a spade; wash your hands=soap; call a friend=a phone; comb your hair=a comb; measure heat=a
thermometer; find north=a compass; weigh things=a scale; boil water=a kettle; light a fire=a match;
saw wood=a saw; sew=a needle; take a photo=a camera; play tennis=a racket; paint=a brush; walk=your
legs; chew=your teeth; add numbers=a calculator; type=a keyboard; clean a window=a cloth; climb a
wall=a ladder; iron a shirt=an iron; catch fish=a net; ride on snow=skis; breathe=your lungs""")
INSTRUMENTS = _pairs("""guitar=string; violin=string; harp=string; cello=string; flute=wind;
trumpet=wind; clarinet=wind; oboe=wind; drum=percussion; triangle=percussion; xylophone=percussion;
piano=keyboard; organ=keyboard; banjo=string; saxophone=wind; tambourine=percussion; trombone=wind;
ukulele=string; harpsichord=keyboard; gong=percussion""")
#: The words of computing, with the article they take, and what they mean.
MEANINGS = _pairs("""JSON=a text format for data; a regex=a pattern that describes text; a
grammar=a set of rules that say which texts are allowed; a token=a small piece of text that a model
reads or writes; a schema=a description of the form that data must have; a pipe=a way to send the
output of one program to another; a command line=a place to type commands to a computer; Python=a
programming language; a list=a row of values in a fixed order; a string=a piece of text in a
program; an integer=a whole number; a boolean=a value that is true or false; an array=a list of
values; an object=a set of keys with values; a key=a name for a value; a value=a piece of data; a
file=a named piece of data on a disk; a folder=a place that holds files; a computer=a machine that
runs programs; a program=a list of steps for a computer; a function=a named part of a program; a
variable=a name for a value that can change; a loop=a part of a program that is repeated; a
language model=a program that writes text token by token; a prompt=the text that a model is asked
to answer; a tokenizer=a program that splits text into tokens; a parser=a program that finds the
structure of a text; a bug=a mistake in a program; a test=a check that a program works; a
database=a store for data that can be searched; a browser=a program that shows web pages; a
server=a computer that answers requests; a keyboard=a thing to type with; a screen=the part of a
computer that shows pictures; a shell=a program that runs commands; an option=a setting of a
command; an argument=a value given to a command or a function; Lark=a notation and a tool for
grammars; a constraint=a rule that the answer must follow; constrained decoding=a way to make a
model write only what the rules allow; a seed=a number that fixes the random choices; temperature=a
measure of how hot something is; a context=the text that a model can see; a weight=a number that a
model has learned; a choice=one of several allowed answers; an error message=a text that says what
went wrong; a terminal=a window for typing commands; standard input=the text that a program reads;
standard output=the text that a program writes; a null value=a value that stands for nothing; a
comma=a mark that separates things; a sentence=a row of words with a full meaning; a word=a group
of letters with a meaning; a number=a value that counts or measures; a letter=a sign for a sound; a
rainbow=a bow of colours in the sky; a volcano=a mountain that throws out hot rock; a desert=a dry
land with little rain; an island=land with water all around it; a river=water that flows to the
sea; a mountain=a very high hill; rain=water that falls from clouds; snow=frozen water that falls
from clouds; wind=air that moves; a library=a house full of books; a museum=a house that shows old
or beautiful things; a clock=a thing that shows the time; a map=a picture of a place from above; a
friend=a person you like and trust; music=sounds that are made to be heard; a poem=a short text
with rhythm; a recipe=a list of steps for cooking something; gravity=the force that pulls things
down; the moon=a ball of rock that goes around the earth; the sun=the star at the centre of our
planets; a star=a hot ball of gas far away; photosynthesis=how plants make food from light""")
#: Facts with their own wordings: questions, then the answer, then the sentence.
MISC = tuple(
    (tuple(q.strip() for q in qs.split("|")), answer.split("|")[0], answer.split("|")[1])
    for qs, answer in _pairs("""at what temperature does water boil | when does water boil | how
hot is boiling water | what is the boiling point of water=100|water boils at 100 degrees Celsius;
at what temperature does water freeze | when does water freeze | how cold is freezing water | what
is the freezing point of water=0|water freezes at 0 degrees Celsius; what is the biggest ocean |
which ocean is the largest | name the largest ocean=Pacific|the biggest ocean is the Pacific; what
is the biggest continent | which continent is the largest | name the largest continent=Asia|the
biggest continent is Asia; what is the smallest continent | which continent is the smallest | name
the smallest continent=Australia|the smallest continent is Australia; what is the coldest continent
| which continent is the coldest | where is the south pole=Antarctica|the south pole is in
Antarctica, the coldest continent; what is the biggest planet | which planet is the largest | name
the largest planet=Jupiter|the biggest planet is Jupiter; what is the smallest planet | which
planet is the smallest | name the smallest planet=Mercury|the smallest planet is Mercury; which
planet is red | what is the red planet | which planet is called the red planet=Mars|the red planet
is Mars; which planet has rings | which planet is known for its rings | what planet has big
rings=Saturn|the planet with the big rings is Saturn; which planet do we live on | what planet do
people live on | what is our planet called=Earth|our planet is called Earth; how many continents
are there | what is the number of continents | how many continents does the world have=7|there are
seven continents; how many oceans are there | what is the number of oceans | how many oceans does
the world have=5|there are five oceans; what is the biggest animal | which animal is the largest |
name the largest animal=whale|the biggest animal is the blue whale; what is the fastest land animal
| which animal runs fastest | name the fastest animal on land=cheetah|the fastest land animal is
the cheetah; what is the tallest animal | which animal is the tallest | which animal has a very
long neck=giraffe|the tallest animal is the giraffe; which animal gives us milk | where does milk
come from | who gives milk=cow|milk comes from a cow; which animal gives us wool | where does wool
come from | who gives wool=sheep|wool comes from a sheep; which animal makes honey | who makes
honey | where does honey come from=bee|honey is made by a bee; which animal lays the eggs we eat |
where do eggs come from | who lays eggs=hen|eggs come from a hen; what do plants need to grow |
what does a plant need | what makes plants grow=light|plants need light and water to grow; what do
cows eat | what does a cow eat | what is the food of a cow=grass|a cow eats grass; what do rabbits
eat | what does a rabbit eat | what is the food of a rabbit=grass|a rabbit eats grass; what do
pandas eat | what does a panda eat | what is the food of a panda=bamboo|a panda eats bamboo; what
do monkeys like to eat | what does a monkey eat | what is the food of a monkey=fruit|a monkey eats
fruit; what do cats catch | what does a cat catch | what do cats hunt=mice|a cat catches mice; how
many moons does the earth have | what is the number of moons of the earth | how many moons has our
planet=1|the earth has one moon; where does the sun rise | in which direction does the sun come up
| on which side does the sun rise=east|the sun rises in the east; where does the sun set | in which
direction does the sun go down | on which side does the sun set=west|the sun sets in the west; what
is frozen water called | what do you call frozen water | what does water become when it
freezes=ice|frozen water is called ice; what does water become when it boils | what do you call
water as a gas | what comes out of a boiling kettle=steam|boiling water becomes steam; what gas do
we breathe | what gas do we need to breathe | which gas do people need=oxygen|we need oxygen to
breathe; which season is the coldest | what is the coldest season | when is it cold=winter|the
coldest season is winter; which season is the hottest | what is the hottest season | when is it
hot=summer|the hottest season is summer; in which season do leaves fall | when do leaves fall |
when do the trees lose their leaves=autumn|leaves fall in autumn; in which season do flowers start
to grow | when do flowers come out | when do the trees turn green=spring|flowers come out in
spring; which month is the shortest | what is the shortest month | what month has the fewest
days=February|the shortest month is February; what is the first month of the year | which month
comes first | name the first month=January|the first month is January; what is the last month of
the year | which month comes last | name the last month=December|the last month is December; what
meal do we eat in the morning | what is the first meal of the day | what do you eat in the
morning=breakfast|the first meal of the day is breakfast; what meal do we eat in the evening | what
is the last meal of the day | what do you eat in the evening=dinner|the last meal of the day is
dinner; what colour do you get from blue and yellow | what do blue and yellow make | mix blue and
yellow=green|blue and yellow make green; what colour do you get from red and yellow | what do red
and yellow make | mix red and yellow=orange|red and yellow make orange; what colour do you get from
red and blue | what do red and blue make | mix red and blue=purple|red and blue make purple; what
colour do you get from black and white | what do black and white make | mix black and
white=grey|black and white make grey; what shape is a ball | which shape does a ball have | what is
the shape of a ball=sphere|a ball is a sphere; what shape is a wheel | which shape does a wheel
have | what is the shape of a wheel=circle|a wheel is a circle; what shape is an egg | which shape
does an egg have | what is the shape of an egg=oval|an egg is an oval; what shape is a dice | which
shape does a dice have | what is the shape of a dice=cube|a dice is a cube; which organ pumps blood
| what pumps the blood | what does the heart pump=blood|the heart pumps blood through the body; how
many eyes does a person have | how many eyes do people have | what is the number of eyes of a
person=2|a person has two eyes; how many fingers does a person have | how many fingers do people
have | how many fingers are on two hands=10|a person has ten fingers; how many teeth does an adult
have | how many teeth do people have | what is the number of teeth of an adult=32|an adult has 32
teeth; how many senses do people have | what is the number of senses | how many senses are
there=5|people have five senses; which fruit is yellow and long | what yellow fruit do monkeys like
| what fruit is long and yellow=banana|the long yellow fruit is the banana; which language is this
| what language do you speak | in which language do you answer=English|I answer in English; what is
the hardest stone | which gemstone is the hardest | name the hardest stone=diamond|the hardest
stone is the diamond; what is the largest desert of hot sand | which hot desert is the largest |
name the largest hot desert=Sahara|the largest hot desert is the Sahara; what is the highest
mountain | which mountain is the highest | name the highest mountain=Everest|the highest mountain
is Mount Everest; which animal has a trunk | what animal has a long nose | which big grey animal
has a trunk=elephant|the animal with a trunk is the elephant; which animal has black and white
stripes | what animal looks like a horse with stripes | name an animal with stripes=zebra|the
animal with black and white stripes is the zebra; what falls from clouds | what comes out of a
cloud | what makes the streets wet=rain|rain falls from clouds; which star is nearest to us | what
is the nearest star | what star gives us light=sun|the nearest star is the sun; what do bees make |
what do bees collect nectar for | what sweet food do bees make=honey|bees make honey; which sport
uses a racket | what sport has a net and a racket | what do you play with a racket=tennis|tennis is
played with a racket; what ball game has goals and eleven players | which sport has eleven players
| what is the most popular ball game=football|football is played with eleven players""")
)
#: Things of growing size.
SIZES = _words("""ant, bee, mouse, frog, rabbit, cat, fox, sheep, pig, lion, horse, elephant,
whale, house, hill, mountain, moon, planet""")
CAN = _pairs("""fly=eagle, bee, sparrow, owl, butterfly, crow, bat, duck; swim=fish, duck, whale,
frog, dolphin, shark, seal, penguin; bark=dog; climb trees=monkey, cat, squirrel; run fast=horse,
dog, cheetah, hare; read=teacher, person; see in the dark=cat, owl""")
CANNOT = _pairs("""fly=penguin, dog, cow, horse, ostrich, cat, snail, stone, fish; swim=stone, hen,
chair; bark=cat, cow, fish; climb trees=cow, fish, horse; run fast=snail, tortoise, worm; read=dog,
stone, tree; see in the dark=stone, chair""")
#: Statements that are true, then those that are false with what is right.
TRUE = _words("""water is wet, the sun is hot, ice is cold, sugar is sweet, the earth is round, a
lemon is sour, a feather is light, a stone is hard, a whale is a mammal, a bat is a mammal, fire is
hot, honey is sweet, a week has seven days, Python is a programming language, JSON is a text
format, a regex is a pattern, a triangle has three sides, birds have feathers, cats have whiskers,
plants need water, wood burns, a spider has eight legs, glass is made of sand, bread is made of
flour, the sea is salty, iron is a metal, winter is cold, snow is white, a tiger is a cat, a
dolphin is a mammal, people need sleep, a tortoise is slow""")
FALSE = _pairs("""the sun is cold=the sun is hot; ice is hot=ice is cold; sugar is salty=sugar is
sweet; the earth is flat=the earth is round; a whale is a fish=a whale is a mammal; a spider is an
insect=a spider has eight legs and is no insect; a week has eight days=a week has seven days; a
triangle has four sides=a triangle has three sides; stones can swim=stones sink; a bat is a bird=a
bat is a mammal; wood is a metal=wood comes from trees; the moon is a star=the moon is a ball of
rock; the sea is sweet=the sea is salty; a snail is fast=a snail is slow; fish live on trees=fish
live in water; milk is blue=milk is white; a year has ten months=a year has twelve months; cows eat
meat=cows eat grass; fire is cold=fire is hot; the moon is made of cheese=the moon is made of rock;
a feather is heavy=a feather is light; plants can walk=plants stay in one place; glass is made of
wood=glass is made of sand; summer is cold=summer is hot; a dolphin is a fish=a dolphin is a
mammal; JSON is an animal=JSON is a text format; Python is only a snake=Python is also a
programming language; a cube is round=a cube has flat faces""")
#: Labels and texts that belong to them; {n} is a name.
LABELS = _pairs("""sport=our team won the game, {n} scored two goals, the runner was very fast, the
match starts at eight, {n} trains for the race, the players were tired after the game; food=the
soup was too salty, {n} baked a cake, we ate pizza, the bread is fresh, {n} cooks dinner tonight,
the apples taste good; weather=it will rain tomorrow, the sun is shining, a storm is coming, it
snowed all night, the wind is cold today, the fog is thick; travel=our train leaves at nine, {n}
booked a hotel, we flew to the coast, the bus was late, {n} packed the suitcase, the airport is far
away; music=the band played a new song, {n} sings in a choir, the piano is out of tune, {n} plays
the violin, the concert was loud, the melody is sad; animals=the dog barks all night, {n} feeds the
cat, a fox ran over the road, the horse eats grass, the birds fly south, {n} saw an owl; school=the
teacher gave us homework, {n} passed the exam, the lesson starts at nine, the pupils read a book,
{n} learns maths, the class is over; work=the meeting is at ten, {n} wrote the report, my boss is
on holiday, the office is closed, {n} started a new job, we finished the project; health=my head
hurts, {n} has a cold, the doctor gave me pills, my knee is swollen, {n} went to the hospital, the
fever is gone; money=the bill is too high, {n} paid the rent, the price went up, the bank is
closed, {n} saved fifty euros, the ticket costs ten euros; computers=the program crashed, {n} wrote
a function, the screen is black, my keyboard is broken, the file was deleted, {n} installed the
update; garden=the roses need water, {n} planted a tree, the grass is too long, the tomatoes are
ripe, {n} digs the soil, the flowers are in bloom""")
MOODS = _pairs("""positive=I love this, it works great, what a lovely day, {n} was very kind, the
food was excellent, I am so happy, the best book I have read, thank you for the great help, a
wonderful film, we had a lot of fun; negative=I hate this, it does not work, what a terrible day,
{n} was very rude, the food was awful, I am so angry, the worst book I have read, this is a waste
of money, a boring film, I want my money back; neutral=the shop opens at nine, the box is on the
table, {n} sent the form, the book has 200 pages, the train goes to the north, the meeting is on
Monday, the door is made of wood, I have a question""")
