// Phone numbers that nobody can have: the ranges that regulators reserve for fiction, in many spellings.

/**
 * The spellings of the numbers in a range. Each `#` is any digit. Sources: NANPA, Ofcom, Bundesnetzagentur 148/2021,
 * ARCEP, PTS, ComReg, ACMA.
 */
export type PhoneRange = readonly string[];

function american(area: number): PhoneRange {
  return [
    `+1 ${area} 555 01##`,
    `(${area}) 555-01##`,
    `${area}-555-01##`,
    `${area}.555.01##`,
    `+1${area}55501##`,
    `+1-${area}-555-01##`,
    `+1 (${area}) 555-01## ext. 4`,
    `tel:+1-${area}-555-01##`,
    `1 ${area} 555 01##`,
  ];
}

function british(area: string, local: string): PhoneRange {
  return [
    `+44 ${area} ${local}###`,
    `0${area} ${local}###`,
    `(0${area}) ${local}###`,
    `+44 (0)${area} ${local}###`,
    `0044 ${area} ${local}###`,
  ];
}

function german(area: string, local: string): PhoneRange {
  return [
    `+49 ${area} ${local} ###`,
    `0${area} ${local}###`,
    `0${area}/${local}-###`,
    `+49 (${area}) ${local}###`,
    `0049 ${area} ${local} ###`,
    `+49${area}${local}###`,
  ];
}

function french(area: string): PhoneRange {
  return [
    `+33 ${area} ## ##`,
    `0${area} ## ##`,
    `+33 (0)${area} ## ##`,
    `0${area.replaceAll(" ", ".")}.##.##`,
    `+33${area.replaceAll(" ", "")}####`,
  ];
}

/** The ranges by city, country or kind of number. */
export const phoneRanges = {
  sanFrancisco: american(415),
  newYork: american(212),
  chicago: american(312),
  seattle: american(206),
  austin: american(512),
  boston: american(617),
  london: british("20", "7946 0"),
  manchester: british("161", "496 0"),
  leeds: british("113", "496 0"),
  edinburgh: british("131", "496 0"),
  bristol: british("117", "496 0"),
  britishMobile: ["+44 7700 900###", "07700 900 ###", "07700900###", "+44 (0)7700 900###", "+447700900###"],
  berlin: german("30", "23125"),
  frankfurt: german("69", "90009"),
  hamburg: german("40", "66969"),
  cologne: german("221", "4710"),
  munich: german("89", "99998"),
  paris: french("1 99 00"),
  nantes: french("2 61 91"),
  strasbourg: french("3 53 01"),
  lyon: french("4 65 71"),
  toulouse: french("5 36 49"),
  frenchMobile: french("6 39 98"),
  swedishMobile: [
    "+46 70-174 06 5#",
    "070-174 06 6#",
    "+46 (0)70 174 06 7#",
    "+467017406 8#",
    "070 174 06 9#",
    "0046 70 174 06 4#",
  ],
  ireland: ["+353 20 910 ####", "020 911 ####", "+353 (0)20 912 ####"],
  sydney: ["+61 2 5550 ####", "(02) 5550 ####", "02 5550 ####"],
  australianMobile: ["0491 570 156", "+61 491 570 157", "+61 491 570 158", "0491 570 159", "0491 570 110"],
} as const satisfies Readonly<Record<string, PhoneRange>>;

/** The code point of the digit 0 in other scripts, and in full width as East Asian keyboards produce it. */
export const otherDigits = { arabic: 0x0660, devanagari: 0x0966, thai: 0x0e50, wide: 0xff10 } as const;

/** Returns the number in other digits. */
export function inDigits(phone: string, digits: keyof typeof otherDigits): string {
  return phone.replace(/\d/g, (digit) => String.fromCodePoint(otherDigits[digits] + Number(digit)));
}
