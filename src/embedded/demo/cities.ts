// Cities with their phone numbers, currencies and common origins of names.
import type { Origin } from "./names.ts";
import { phoneRanges, type PhoneRange } from "./phones.ts";

/** A city with its phone numbers, currency and the origins of its people's names. */
export interface City {
  readonly name: string;
  readonly phones: readonly PhoneRange[];
  /** Formats a sum in the local currency. */
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

/** The cities with phone numbers that are reserved for fiction. */
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
