// What people's lives are made of: cities, companies, posts, and what they do when they do not work.
import type { namePools } from "./names.ts";
import { phoneRanges, type PhoneRange } from "./phones.ts";

/** Where somebody lives: how phones ring there, what they pay in, and whom one meets. */
export interface City {
  readonly name: string;
  readonly phones: readonly PhoneRange[];
  /** A sum, as one writes it there. */
  readonly money: (sum: number) => string;
  readonly pools: readonly (keyof typeof namePools)[];
}

function cities(
  money: City["money"],
  pools: City["pools"],
  ranges: Readonly<Record<string, readonly PhoneRange[]>>,
): City[] {
  return Object.entries(ranges).map(([name, phones]) => ({ name, phones, money, pools }));
}

function after(sign: string): City["money"] {
  return (sum) => sign + sum.toLocaleString("en-US");
}

const {
  london,
  manchester,
  leeds,
  edinburgh,
  bristol,
  britishMobile,
  berlin,
  hamburg,
  cologne,
  frankfurt,
  munich,
  frenchMobile,
  swedishMobile,
} = phoneRanges;

/** The cities that have phone numbers kept for fiction. */
export const allCities: readonly City[] = [
  ...cities(after("$"), ["english", "english", "english", "iberian", "indian", "vietnamese", "italian", "arabic"], {
    "San Francisco": [phoneRanges.sanFrancisco],
    "New York": [phoneRanges.newYork],
    Chicago: [phoneRanges.chicago],
    Seattle: [phoneRanges.seattle],
    Austin: [phoneRanges.austin],
    Boston: [phoneRanges.boston],
  }),
  ...cities(
    after("£"),
    ["english", "english", "english", "english", "indian", "african", "polish", "iberian", "dutch"],
    {
      London: [london, britishMobile],
      Manchester: [manchester, britishMobile],
      Leeds: [leeds, britishMobile],
      Edinburgh: [edinburgh, britishMobile],
      Bristol: [bristol, britishMobile],
    },
  ),
  ...cities(after("€"), ["german", "german", "german", "turkish", "polish", "czech", "hungarian", "italian"], {
    Berlin: [berlin],
    Hamburg: [hamburg],
    Cologne: [cologne],
    Frankfurt: [frankfurt],
    Munich: [munich],
  }),
  ...cities(after("€"), ["french", "french", "french", "arabic", "iberian", "vietnamese", "african"], {
    Paris: [phoneRanges.paris, frenchMobile],
    Nantes: [phoneRanges.nantes, frenchMobile],
    Strasbourg: [phoneRanges.strasbourg, frenchMobile],
    Lyon: [phoneRanges.lyon, frenchMobile],
    Toulouse: [phoneRanges.toulouse, frenchMobile],
  }),
  ...cities((sum) => after("SEK ")(10 * sum), ["nordic", "nordic", "nordic", "arabic"], {
    Gothenburg: [swedishMobile],
    Malmö: [swedishMobile],
  }),
  ...cities(after("€"), ["english", "english", "polish"], { Dublin: [phoneRanges.ireland] }),
  ...cities(after("A$"), ["english", "english", "indian", "vietnamese"], {
    Sydney: [phoneRanges.sydney, phoneRanges.australianMobile],
  }),
];

/** Employers; made up, and too plain to tell their trade. */
export const companies = [
  "Alder & Ash",
  "Anchor Street",
  "Beacon Mills",
  "Birchwood",
  "Blue Gate",
  "Bramble & Co",
  "Brightwell",
  "Calder Works",
  "Canvas & Clay",
  "Cloudberry",
  "Copperfield Tools",
  "Corner House",
  "Driftwood",
  "Eastbank",
  "Elmtree",
  "Fable & Finch",
  "Fernhill",
  "Fieldnote",
  "Fjordlys",
  "Forge Lane",
  "Foxglove",
  "Glasshouse",
  "Granary Wharf",
  "Greenhalgh",
  "Harbour & Pine",
  "Hazel Row",
  "Highmoor",
  "Ironbridge Cycles",
  "Juniper Hall",
  "Kestrel",
  "Kiln & Kettle",
  "Lakeside",
  "Larkspur",
  "Linden & Partners",
  "Little Compass",
  "Lowland",
  "Maple Yard",
  "Meadowsweet",
  "Millrace",
  "Moss & Stone",
  "Nettle",
  "Nightingale",
  "Northlight",
  "Oak & Otter",
  "Old Ferry",
  "Orchard Nine",
  "Paper Crane",
  "Pebble Court",
  "Pinewood",
  "Quayside",
  "Quillon",
  "Redwing",
  "Riverbend",
  "Rowan Tree",
  "Saltmarsh",
  "Sandpiper",
  "Seven Sisters",
  "Silverbirch",
  "Slate & Sons",
  "Sparrow Hill",
  "Stonecrop",
  "Summerhouse",
  "Sycamore",
  "Tannery Square",
  "Thistledown",
  "Tide & Timber",
  "Twelve Bells",
  "Upland",
  "Vellum",
  "Wayfarer",
  "Westgate",
  "Whitethorn",
  "Willow & Wren",
  "Windmill Lane",
  "Yarrow",
];

/** What clients are at their companies. */
export const roles = [
  "founder",
  "co-founder",
  "managing director",
  "head of operations",
  "head of product",
  "head of people",
  "finance director",
  "marketing lead",
  "engineering manager",
  "team lead",
  "owner",
  "partner",
  "chief of staff",
  "sales director",
  "programme manager",
  "customer care lead",
];

/** What suppliers and peers do. */
export const trades = [
  "printer",
  "tax adviser",
  "lawyer",
  "web designer",
  "translator",
  "photographer",
  "recruiter",
  "bookkeeper",
  "facilitator",
  "venue manager",
  "insurance broker",
  "copywriter",
  "IT support",
  "graphic designer",
  "podcast host",
  "conference organiser",
];

/** What fills evenings, as in "talks about …". */
export const hobbies = [
  "sailing",
  "the allotment",
  "choir",
  "bouldering",
  "the cello",
  "restoring an old motorbike",
  "open-water swimming",
  "baking sourdough",
  "fell running",
  "chess",
  "beekeeping",
  "football on Sundays",
  "watercolours",
  "the vintage caravan",
  "learning Italian",
  "five-a-side",
  "photographing birds",
  "the brass band",
  "marathon training",
  "home brewing",
  "amateur theatre",
  "rowing",
  "knitting",
  "the model railway",
];

/** Where holidays go. */
export const places = [
  "Crete",
  "the Dolomites",
  "Brittany",
  "Madeira",
  "the Outer Hebrides",
  "Puglia",
  "the Black Forest",
  "Lisbon",
  "the Lake District",
  "Kyoto",
  "the Baltic coast",
  "Andalusia",
  "Cornwall",
  "the Azores",
  "Bornholm",
  "Slovenia",
  "the Scottish islands",
  "Corsica",
  "Vermont",
  "Oaxaca",
];

/** Where one has met somebody. */
export const origins = [
  "at the founders' breakfast in {city}",
  "on a panel on family firms",
  "at the trade fair in {city}",
  "at the school gate",
  "at {colleague}'s leaving do",
  "on the train to {city}, delayed by two hours",
  "in a workshop for the chamber of commerce",
  "at the alumni dinner",
  "in the coworking space",
  "after a podcast recording",
];
