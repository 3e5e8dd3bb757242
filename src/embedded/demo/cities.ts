// Cities: how phones ring there, what one pays in, and whom one meets.
import type { Origin } from "./names.ts";
import { phoneRanges, type PhoneRange } from "./phones.ts";

/** Where somebody lives: how phones ring there, what they pay in, and whom one meets. */
export interface City {
  readonly name: string;
  readonly phones: readonly PhoneRange[];
  /** A sum, as one writes it there. */
  readonly money: (sum: number) => string;
  readonly pools: readonly Origin[];
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
