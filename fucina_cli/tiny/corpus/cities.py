"""Facts about real cities, and names of cities that do not exist."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class City:
    """What is known of one city.

    Args:
        name: its English name.
        country: its country, without an article.
        continent: the continent it lies on.
        population: inhabitants, rounded to tens of thousands.
        water: the river, lake or sea it lies on, with its article; empty where there is none.
        language: the language most spoken there.
        known_for: a noun phrase.
        capital: whether it is a capital of its country.
    """

    name: str
    country: str
    continent: str
    population: int
    water: str
    language: str
    known_for: str
    capital: bool


# A line a city: name (a star before a capital) | country | population in tens of thousands | water
# | language | known for.
_EUROPE = """\
*Paris|France|210|the Seine|French|its museums and its boulevards
Lyon|France|52|the Rhône|French|its silk weaving and its kitchens
Marseille|France|87|the Mediterranean Sea|French|its old port and its fish soup
Toulouse|France|50|the Garonne|French|its pink brick houses and its aircraft industry
Bordeaux|France|26|the Garonne|French|its wine and its elegant quays
*London|United Kingdom|890|the Thames|English|its theatres and its parks
Manchester|United Kingdom|55|the Irwell|English|its cotton mills and its football
Liverpool|United Kingdom|49|the Mersey|English|its docks and its music
*Rome|Italy|275|the Tiber|Italian|its ancient ruins and its fountains
Milan|Italy|137||Italian|its fashion and its cathedral
Venice|Italy|25|the Adriatic Sea|Italian|its canals and its glass
Florence|Italy|36|the Arno|Italian|its Renaissance art and its leather
Naples|Italy|91|the Tyrrhenian Sea|Italian|its pizza and its view of Mount Vesuvius
Turin|Italy|85|the Po|Italian|its chocolate and its car industry
*Berlin|Germany|370|the Spree|German|its museums and its lively arts scene
Hamburg|Germany|185|the Elbe|German|its harbour and its brick warehouses
Munich|Germany|149|the Isar|German|its beer gardens and its Oktoberfest
Cologne|Germany|108|the Rhine|German|its cathedral and its carnival
Frankfurt|Germany|76|the Main|German|its banks and its book fair
*Madrid|Spain|330|the Manzanares|Spanish|its art museums and its late evenings
Barcelona|Spain|160|the Mediterranean Sea|Catalan and Spanish|its architecture and its beaches
Seville|Spain|68|the Guadalquivir|Spanish|its flamenco and its orange trees
*Lisbon|Portugal|55|the Tagus|Portuguese|its trams and its tiled houses
Porto|Portugal|23|the Douro|Portuguese|its port wine and its bridges
*Vienna|Austria|200|the Danube|German|its music and its coffee houses
*Prague|Czech Republic|136|the Vltava|Czech|its old bridge and its many towers
*Bratislava|Slovakia|48|the Danube|Slovak|its castle and its small old town
*Warsaw|Poland|186|the Vistula|Polish|its rebuilt old town and its piano music
Kraków|Poland|80|the Vistula|Polish|its royal castle and its market square
Gdańsk|Poland|49|the Baltic Sea|Polish|its amber and its shipyards
*Budapest|Hungary|170|the Danube|Hungarian|its thermal baths and its bridges
*Bucharest|Romania|172|the Dâmbovița|Romanian|its huge parliament and its wide avenues
*Sofia|Bulgaria|124||Bulgarian|its golden-domed cathedral and its mineral springs
*Belgrade|Serbia|120|the Danube|Serbian|its fortress and its nightlife
*Zagreb|Croatia|77|the Sava|Croatian|its markets and its small museums
*Ljubljana|Slovenia|29|the Ljubljanica|Slovene|its bridges and its dragon statues
*Athens|Greece|64||Greek|its Acropolis and its ancient ruins
Thessaloniki|Greece|32|the Aegean Sea|Greek|its waterfront and its Byzantine churches
*Oslo|Norway|71|the Oslo Fjord|Norwegian|its opera house and its ski jump
Bergen|Norway|29|the North Sea|Norwegian|its wooden wharf and its fish market
*Stockholm|Sweden|98|the Baltic Sea|Swedish|its islands and its old town
Gothenburg|Sweden|60|the Göta älv|Swedish|its harbour and its seafood
*Copenhagen|Denmark|65|the Øresund|Danish|its bicycles and its harbour baths
*Helsinki|Finland|67|the Baltic Sea|Finnish|its design and its saunas
*Reykjavik|Iceland|14|the Atlantic Ocean|Icelandic|its warm pools and its colourful houses
*Dublin|Ireland|59|the Liffey|English|its pubs and its writers
*Brussels|Belgium|124||French and Dutch|its chocolate and its waffles
Antwerp|Belgium|54|the Scheldt|Dutch|its diamonds and its port
*Amsterdam|Netherlands|93|the Amstel|Dutch|its canals and its bicycles
Rotterdam|Netherlands|67|the Nieuwe Maas|Dutch|its port and its modern architecture
*Bern|Switzerland|13|the Aare|German|its clock tower and its arcades
Zurich|Switzerland|44|Lake Zurich|German|its banks and its clean lake
Geneva|Switzerland|20|Lake Geneva|French|its watchmakers and its tall fountain
*Kyiv|Ukraine|295|the Dnipro|Ukrainian|its golden domes and its river beaches
*Tallinn|Estonia|45|the Baltic Sea|Estonian|its medieval walls and its digital services
*Riga|Latvia|61|the Daugava|Latvian|its Art Nouveau houses and its market halls
*Vilnius|Lithuania|59|the Neris|Lithuanian|its baroque old town and its hills
*Moscow|Russia|1310|the Moskva|Russian|its Kremlin and its metro stations
Saint Petersburg|Russia|560|the Neva|Russian|its palaces and its white nights
Istanbul|Turkey|1550|the Bosphorus|Turkish|its mosques and its bazaars
"""
_ASIA = """\
*Tokyo|Japan|1400|Tokyo Bay|Japanese|its trains and its many restaurants
Kyoto|Japan|145|the Kamo|Japanese|its temples and its gardens
Osaka|Japan|275|Osaka Bay|Japanese|its street food and its castle
Sapporo|Japan|196||Japanese|its snow festival and its beer
*Beijing|China|2190||Chinese|its Forbidden City and its roast duck
Shanghai|China|2490|the Huangpu|Chinese|its skyline and its port
Guangzhou|China|1880|the Pearl River|Cantonese|its trade fairs and its dim sum
*Seoul|South Korea|940|the Han|Korean|its palaces and its electronics
Busan|South Korea|330|the Korea Strait|Korean|its beaches and its fish market
*New Delhi|India|26|the Yamuna|Hindi|its government buildings and its wide avenues
Delhi|India|1680|the Yamuna|Hindi|its Red Fort and its markets
Mumbai|India|1250|the Arabian Sea|Marathi|its film industry and its seafront
Kolkata|India|450|the Hooghly|Bengali|its trams and its literature
Chennai|India|670|the Bay of Bengal|Tamil|its classical music and its long beach
Jaipur|India|305||Hindi|its pink buildings and its palaces
*Kathmandu|Nepal|86|the Bagmati|Nepali|its temples and its mountain views
*Dhaka|Bangladesh|1030|the Buriganga|Bengali|its rickshaws and its muslin
*Islamabad|Pakistan|110||Urdu|its large mosque and its green hills
Karachi|Pakistan|1880|the Arabian Sea|Urdu|its port and its street food
Lahore|Pakistan|1300|the Ravi|Punjabi|its Mughal gardens and its food
*Bangkok|Thailand|830|the Chao Phraya|Thai|its temples and its floating markets
*Hanoi|Vietnam|840|the Red River|Vietnamese|its lakes and its old quarter
Ho Chi Minh City|Vietnam|900|the Saigon|Vietnamese|its markets and its motorbikes
*Singapore|Singapore|590|the Singapore Strait|English|its port and its gardens
*Kuala Lumpur|Malaysia|198|the Klang|Malay|its twin towers and its food markets
*Jakarta|Indonesia|1060|the Java Sea|Indonesian|its old harbour and its museums
*Manila|Philippines|185|Manila Bay|Filipino|its walled old town and its sunsets
*Ulaanbaatar|Mongolia|160|the Tuul|Mongolian|its monasteries and its cold winters
*Tehran|Iran|870||Persian|its bazaar and its nearby mountains
*Baghdad|Iraq|760|the Tigris|Arabic|its book market and its long history
*Amman|Jordan|400||Arabic|its Roman theatre and its hills
*Riyadh|Saudi Arabia|700||Arabic|its towers and its old fortress
*Abu Dhabi|United Arab Emirates|150|the Persian Gulf|Arabic|its white mosque and its oil
Dubai|United Arab Emirates|365|the Persian Gulf|Arabic|its skyscrapers and its shops
*Ankara|Turkey|550||Turkish|its citadel and its museums
*Tashkent|Uzbekistan|300||Uzbek|its bazaars and its metro
*Tbilisi|Georgia|120|the Kura|Georgian|its sulphur baths and its wooden balconies
*Baku|Azerbaijan|230|the Caspian Sea|Azerbaijani|its flame towers and its walled old town
"""
_AFRICA = """\
*Cairo|Egypt|1000|the Nile|Arabic|its nearby pyramids and its old mosques
Alexandria|Egypt|530|the Mediterranean Sea|Arabic|its great library and its seafront
*Nairobi|Kenya|440||Swahili|its national park and its technology scene
Mombasa|Kenya|120|the Indian Ocean|Swahili|its old town and its beaches
*Abuja|Nigeria|160||English|its great rock and its wide roads
Lagos|Nigeria|1500|the Gulf of Guinea|Yoruba and English|its music and its film industry
*Accra|Ghana|190|the Gulf of Guinea|English|its markets and its beaches
*Dakar|Senegal|115|the Atlantic Ocean|Wolof|its music and its island of Gorée
*Addis Ababa|Ethiopia|390||Amharic|its coffee and its museums
*Kampala|Uganda|168|Lake Victoria|Luganda|its hills and its markets
*Kigali|Rwanda|175||Kinyarwanda|its clean streets and its hills
*Tunis|Tunisia|64|the Mediterranean Sea|Arabic|its old town and its mosaics
*Algiers|Algeria|300|the Mediterranean Sea|Arabic|its white houses and its old citadel
*Rabat|Morocco|58|the Atlantic Ocean|Arabic|its fortress and its royal tombs
Casablanca|Morocco|336|the Atlantic Ocean|Arabic|its port and its great mosque
Marrakesh|Morocco|93||Arabic|its markets and its red walls
*Pretoria|South Africa|74||Afrikaans|its jacaranda trees and its government buildings
*Cape Town|South Africa|470|the Atlantic Ocean|English and Afrikaans|its mountain and its vineyards
Johannesburg|South Africa|480||Zulu and English|its gold mines and its markets
"""
_NORTH_AMERICA = """\
*Washington|United States|69|the Potomac|English|its monuments and its museums
New York|United States|880|the Hudson|English|its skyscrapers and its theatres
Chicago|United States|275|Lake Michigan|English|its architecture and its blues music
San Francisco|United States|87|the Pacific Ocean|English|its great bridge and its steep hills
Los Angeles|United States|390|the Pacific Ocean|English|its film industry and its beaches
Boston|United States|68|the Atlantic Ocean|English|its universities and its history
Seattle|United States|74|Puget Sound|English|its coffee and its aircraft
New Orleans|United States|38|the Mississippi|English|its jazz and its carnival
*Ottawa|Canada|102|the Ottawa River|English and French|its parliament and its canal
Toronto|Canada|279|Lake Ontario|English|its tall tower and its film festival
Montreal|Canada|176|the Saint Lawrence|French|its festivals and its bagels
Vancouver|Canada|66|the Pacific Ocean|English|its mountains and its parks
*Mexico City|Mexico|920||Spanish|its murals and its museums
*Havana|Cuba|210|the Straits of Florida|Spanish|its old cars and its cigars
*Kingston|Jamaica|66|the Caribbean Sea|English|its reggae music and its harbour
"""
_SOUTH_AMERICA = """\
*Lima|Peru|1000|the Pacific Ocean|Spanish|its fish dishes and its museums
Cusco|Peru|43||Spanish and Quechua|its Inca walls and its festivals
*Brasília|Brazil|282|Lake Paranoá|Portuguese|its modern architecture and its wide lawns
São Paulo|Brazil|1145||Portuguese|its restaurants and its art museums
Rio de Janeiro|Brazil|620|the Atlantic Ocean|Portuguese|its carnival and its beaches
*Buenos Aires|Argentina|310|the Río de la Plata|Spanish|its tango and its steak houses
*Santiago|Chile|620|the Mapocho|Spanish|its markets and its view of the Andes
*Bogotá|Colombia|790||Spanish|its gold museum and its street art
Medellín|Colombia|250||Spanish|its flowers and its cable cars
*Quito|Ecuador|180||Spanish|its colonial churches and its mountain air
*Montevideo|Uruguay|130|the Río de la Plata|Spanish|its carnival and its long seafront
"""
_OCEANIA = """\
*Canberra|Australia|46|Lake Burley Griffin|English|its parliament and its museums
Sydney|Australia|530|the Pacific Ocean|English|its opera house and its harbour bridge
Melbourne|Australia|510|the Yarra|English|its coffee and its trams
Brisbane|Australia|260|the Brisbane River|English|its sunny weather and its river ferries
Perth|Australia|220|the Swan|English|its beaches and its black swans
*Wellington|New Zealand|21|Cook Strait|English|its wind and its film studios
Auckland|New Zealand|150|the Hauraki Gulf|English|its sailing boats and its volcanic hills
"""
_TABLES = (
    ("Europe", _EUROPE),
    ("Asia", _ASIA),
    ("Africa", _AFRICA),
    ("North America", _NORTH_AMERICA),
    ("South America", _SOUTH_AMERICA),
    ("Oceania", _OCEANIA),
)


def _read(continent: str, line: str) -> City:
    name, country, population, water, language, known_for = line.split("|")
    people = int(population) * 10_000
    capital = name.startswith("*")
    return City(name.lstrip("*"), country, continent, people, water, language, known_for, capital)


CITIES: tuple[City, ...] = tuple(
    _read(continent, line) for continent, table in _TABLES for line in table.splitlines()
)
#: The countries with exactly one capital, and that.
CAPITALS: dict[str, City] = {c.country: c for c in CITIES if c.capital}
for _country, _count in Counter(c.country for c in CITIES if c.capital).items():
    if _count > 1:
        del CAPITALS[_country]

_WITH_ARTICLE = frozenset(
    ("United Kingdom", "United States", "United Arab Emirates", "Netherlands", "Philippines")
) | {"Czech Republic"}


def country_phrase(country: str) -> str:
    """The country as sentences name it: with its article where it has one."""
    return f"the {country}" if country in _WITH_ARTICLE else country


_STARTS = (
    *("Vel", "Tar", "Bel", "Mor", "Kal", "Dur", "Fen", "Gal", "Hol", "Ist", "Jor", "Kest", "Lun"),
    *("Mar", "Nor", "Oss", "Pel", "Quar", "Rav", "Sel", "Thal", "Ul", "Var", "Wes", "Yar", "Zan"),
    *("Bram", "Cor", "Drav", "El", "Fal", "Grim", "Har", "Il", "Kor", "Lor", "Mil", "Ned", "Or"),
    *("Pra", "Ros", "Stel", "Tol", "Umb", "Vin", "Wol", "Ash", "Brook", "Cran", "Dun", "Shan"),
)
_MIDDLES = ("a", "e", "i", "o", "u", "an", "en", "or", "il", "am", "es", "ar", "in", "ov", "el")
_ENDS = (
    *("mora", "ton", "ville", "burg", "dale", "ford", "stad", "grad", "polis", "heim", "bury"),
    *("wick", "port", "mouth", "haven", "sund", "vik", "nia", "ra", "dor", "mir", "tova", "lena"),
    *("rino", "zco", "pur", "bad", "shi", "kawa", "ling", "do", "cia", "veda", "that", "quil"),
)
_BEFORE = ("New", "Port", "San", "Santa", "Fort", "Saint", "North", "Old", "Mount", "La", "El")
_AFTER = ("City", "Bay", "Falls", "Springs", "Beach", "Rapids", "Harbour", "Heights")
_NAMES = frozenset(c.name for c in CITIES)


def invented_name(rng: random.Random) -> str:
    """The name of a city that is in no table."""
    while True:
        middle = rng.choice(_MIDDLES) if rng.random() < 0.6 else ""
        name = rng.choice(_STARTS) + middle + rng.choice(_ENDS)
        kind = rng.random()
        if kind < 0.12:
            name = f"{rng.choice(_BEFORE)} {name}"
        elif kind < 0.18:
            name = f"{name} {rng.choice(_AFTER)}"
        if name not in _NAMES:
            return name


def invented(rng: random.Random) -> City:
    """A city of which nothing is known."""
    nothing = "unknown"
    return City(invented_name(rng), nothing, nothing, 0, nothing, nothing, nothing, False)
