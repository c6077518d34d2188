"""Documents of about 300 to 400 tokens to copy from."""

MINUTES = """
Minutes of the works meeting, Tuesday 14 October 2025, held in the old foundry hall.
Present were Ottavia Brambilla, who chaired, Henrik Solberg for the carpenters, Danuta Wisniewska
for the electricians and Tobias Anquetil, who wrote these minutes. The meeting was opened at nine.
Ottavia Brambilla reported that the crane over the north bay will be inspected on 3 November 2025
by the firm Ruggeri e Figli of Brescia, and that nobody may work below it on that day. Henrik
Solberg asked that the oak beams for the gallery be stored under a roof, since the rain of last week
had swollen two of them, and it was agreed that they go to the shed behind the weighing house.
Danuta Wisniewska presented the plan for the new distribution board: the cables from the transformer
room are to be laid in the trench along the east wall, the old fuses are to be kept for the museum,
and the power will be cut on Saturday 25 October from six in the morning until two in the afternoon.
The budget for lamps was raised from 4,200 to 5,150 euros. Tobias Anquetil reminded everyone that
the visitors from the technical school in Gothenburg come on 30 October at half past ten, that they
want to see the pouring of a bell, and that the bell is called Serafina and weighs 312 kilograms.
The meeting decided that the pouring begins at eleven and that safety glasses are handed out at the
gate. Nobody objected. The next meeting will be held on Tuesday 11 November 2025 in the same hall.
""".strip()

LEASE = """
Lease of the premises at 14 Quarry Lane, Hollowby. The landlord is Mrs. Agnes Thorpe of 2 Mill
Road and the tenant is Bernhard Oyelaran, bookbinder. The rent is 640 pounds a month, payable on
the first working day, and a deposit of 1,280 pounds is held by the Hollowby Savings Bank. The
lease begins on 1 March 2024 and ends on 28 February 2027. The tenant may keep a guillotine, two
presses and a small stove in the workshop, but must not store paper in the cellar, which floods in
spring. Repairs to the roof and the gutters are the landlord's duty; repairs to windows and locks
are the tenant's. Either side may end the lease with three months' notice in writing. The keys,
four in number, were handed over on 27 February 2024 in the presence of Ines Calloway, notary. The
tenant shall sweep the chimney once a year and show the receipt. The landlord may visit the
premises after two days' notice, between ten and four o'clock, and never on a Sunday. Subletting
is allowed for the upper room only, with the landlord's consent. Disputes are settled by the court
of Hollowby.
""".strip()

NOTES = """
Release notes for Marlin 4.2. The import wizard now reads files of up to 2 GB and shows its
progress. The calendar view can be printed on A3 paper. A crash when two users edited the same row
was fixed. The default port changed from 8080 to 8443. Passwords must have at least twelve
characters. The search index is rebuilt every night at 3:15. The old report engine was removed;
reports made with it can be converted with the tool marlin-convert. The French and the Portuguese
translation are complete. Support for Windows 7 has ended. Administrators should run the command
marlin check before the upgrade and keep a backup for thirty days. The licence server moved to
licences.marlin.example. Known problem: charts with more than 500 series are drawn slowly. The
next release, 4.3, is planned for September and will bring a new editor for templates, faster
exports and an audit log that can be filtered by user. Thanks to Petra Lindqvist, Omar Haddad and
the twelve volunteers who tested this release for six weeks.
""".strip()
