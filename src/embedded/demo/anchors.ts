// The people of the demo account whom the documentation and the tests know by name.
import type { Slots } from "./text.ts";

/** Their names; they are active contacts of the profile "demo", with an email, notes and sessions. */
export const anchors = {
  annLee: "Ann Lee",
  /** The one with more notes than a timeline shows. */
  joseAlvarez: "José Álvarez",
  /** The one with a note of exactly 10,000 code points. */
  sorenOdegard: "Søren Ødegård",
  wangXiaoming: "王小明",
  lukaszWisniewski: "Łukasz Wiśniewski",
  asaLindqvist: "Åsa Lindqvist",
  zoeMartin: "Zoë Martin",
  nguyenThiMai: "Nguyễn Thị Mai",
  eleniPapadopoulou: "Ελένη Παπαδοπούλου",
  olgaSokolova: "Ольга Соколова",
  laylaHaddad: "ليلى حداد",
  noamCohen: "נועם כהן",
  priyaSharma: "प्रिया शर्मा",
  satoHanako: "佐藤 花子",
  kimMinjun: "김민준",
  somchaiJaidee: "สมชาย ใจดี",
} as const;

/** What is settled about somebody beforehand; the rest is drawn. */
export interface KnownPerson {
  readonly fullName: string;
  readonly first: string;
  readonly last: string;
  readonly gender: "f" | "m";
  readonly city: string;
  readonly company: string;
  readonly role: string;
  readonly email: string;
  readonly phone: string;
  readonly topics: readonly string[];
  /** Past and future sessions, and drawn timeline notes. */
  readonly past: number;
  readonly future: number;
  readonly notes: number;
  readonly freeText?: string;
  readonly memory?: string;
  /** Slots that are not drawn, so that all notes tell of the same life. */
  readonly life?: Slots;
  /** Timeline notes that are not drawn, newest first. */
  readonly ownNotes?: readonly string[];
}

function person(
  fullName: string,
  [first, last, gender]: [string, string, "f" | "m"],
  [city, company, role]: [string, string, string],
  [email, phone]: [string, string],
  topics: string[],
  [past, future, notes]: [number, number, number],
  texts: Pick<KnownPerson, "freeText" | "memory" | "life" | "ownNotes"> = {},
): KnownPerson {
  return { fullName, first, last, gender, city, company, role, email, phone, topics, past, future, notes, ...texts };
}

const annLee = person(
  anchors.annLee,
  ["Ann", "Lee", "f"],
  ["San Francisco", "Lantern Books", "founder"],
  ["ann.lee@example.com", "+1 415 555 0100"],
  ["Pricing", "Second shop"],
  [13, 2, 9],
  {
    freeText:
      "Founder of Lantern Books, a bookshop with a reading room in San Francisco. Met on a panel on small retail. " +
      "Prefers mornings. Decides with her head of buying, Ruth. Married to Casey, one son (Theo). Swims in the bay all year round.",
    memory:
      "Ann Lee is the founder of Lantern Books in San Francisco and is opening a second shop. Her aim is a shop that runs without her behind the till.\n\n" +
      "- The budget for the second shop is $90k, $30k of it from a loan that depends on the winter figures.\n" +
      "- Important people: Ruth (head of buying), Marcus (manager of the second shop), the landlord Mr Ortega.\n" +
      "- Prefers short agendas and one question at a time; dislikes slides.\n" +
      "- Open: who pays for the new front door, and the permit for the sign.\n" +
      "- Family: Casey, and Theo, who started high school this year. A safe opening is the water temperature in the bay.",
    life: {
      colleague: "Ruth",
      colleague2: "Marcus",
      partner: "Casey",
      child: "Theo",
      hobby: "open-water swimming",
      place: "Oaxaca",
      budget: "$90k",
    },
    ownNotes: [
      "Ann called: the landlord pays half of the front door. She will sign the lease this week, and wants me to read clause 14 once more.",
      "Opening of the second shop: a weekday, no speeches, cake for the reading group. Ruth orders the stock, Marcus has the keys.",
      "Budget is settled at $90k, with $12k held back for the first bad winter. The bank saw the cash plan and asked only two questions.",
      "Theo started high school. Ann is home by four on Wednesdays from now on, so no sessions then.",
      "Her sentence of the day: “One shop is a life, two are a company.” Use it at the review.",
      "Promised to introduce Ann to José Álvarez, who opened his second place last year.",
      "First invoice is paid, two days after it was sent. Thank-you note with a second-hand Calvino.",
    ],
  },
);

/** The anchors, in the order in which they come first among the contacts. */
export const knownPeople: readonly KnownPerson[] = [
  annLee,
  person(
    anchors.joseAlvarez,
    ["José", "Álvarez", "m"],
    ["London", "Álvarez & Daughters", "owner"],
    ["jose.alvarez@alvarez.example.com", "+44 20 7946 0182"],
    ["Second shop", "Export", "Succession", "Annual plan"],
    [16, 1, 62],
  ),
  person(
    anchors.sorenOdegard,
    ["Søren", "Ødegård", "m"],
    ["Gothenburg", "Fjordlys", "managing director"],
    ["soren@fjordlys.example.net", "+46 70 174 06 31"],
    ["Warehouse move", "Returns"],
    [11, 1, 12],
  ),
  person(
    anchors.wangXiaoming,
    ["Xiaoming", "Wang", "m"],
    ["Hamburg", "Nine Mountains Tea", "founder"],
    ["xiaoming.wang@ninemountains.example.com", "+49 40 66969 208"],
    ["Export", "Online shop"],
    [8, 1, 6],
  ),
  person(
    anchors.lukaszWisniewski,
    ["Łukasz", "Wiśniewski", "m"],
    ["Berlin", "Forge Lane", "engineering manager"],
    ["Lukasz.Wisniewski@ForgeLane.example.com", "030 23125417"],
    ["First hundred days", "Two teams, one"],
    [7, 1, 7],
  ),
  person(
    anchors.asaLindqvist,
    ["Åsa", "Lindqvist", "f"],
    ["Malmö", "Nygård Hamn", "head of people"],
    ["asa.lindqvist@nygardhamn.example.org", "+46 (0)70-174 06 52"],
    ["Two teams, one", "Workload"],
    [6, 0, 6],
  ),
  person(
    anchors.zoeMartin,
    ["Zoë", "Martin", "f"],
    ["Paris", "Atelier Zoë", "founder"],
    ["zoë.martin@example.org", "+33 1 99 00 41 07"],
    ["Rebrand", "The book"],
    [6, 1, 5],
  ),
  person(
    anchors.nguyenThiMai,
    ["Mai", "Nguyễn", "f"],
    ["Lyon", "Maison Mai", "owner"],
    ["mai.nguyen@maisonmai.example.com", "06 39 98 17 26"],
    ["Second shop"],
    [5, 0, 5],
  ),
  person(
    anchors.eleniPapadopoulou,
    ["Eleni", "Papadopoulou", "f"],
    ["Munich", "Olive & Salt", "co-founder"],
    ["eleni.papadopoulou@oliveandsalt.example.com", "+49 (89) 99998341"],
    ["Online shop", "Co-founders"],
    [6, 1, 4],
  ),
  person(
    anchors.olgaSokolova,
    ["Olga", "Sokolova", "f"],
    ["Frankfurt", "Sokolov Gears", "finance director"],
    ["o.sokolova@sokolovgears.example.com", "069/90009-118"],
    ["Succession"],
    [6, 0, 4],
  ),
  person(
    anchors.laylaHaddad,
    ["Layla", "Haddad", "f"],
    ["London", "Cedar Clinic", "programme manager"],
    ["layla.haddad@cedarclinic.example.org", "٠٢٠ ٧٩٤٦ ٠٣٥١"],
    ["Certification"],
    [4, 0, 4],
  ),
  person(
    anchors.noamCohen,
    ["Noam", "Cohen", "m"],
    ["New York", "Pomelo Health", "co-founder"],
    ["noam@pomelohealth.example.com", "(212) 555-0147"],
    ["Seed round", "Co-founders"],
    [6, 1, 4],
  ),
  person(
    anchors.priyaSharma,
    ["Priya", "Sharma", "f"],
    ["Manchester", "Saffron Labs", "head of product"],
    ["priya.sharma@saffronlabs.example.com", "+44 7700 900218"],
    ["Pricing", "Speaking"],
    [7, 1, 5],
  ),
  person(
    anchors.satoHanako,
    ["Hanako", "Sato", "f"],
    ["Seattle", "Hanami Kitchen", "founder"],
    ["hanako@hanamikitchen.example.com", "＋１ ２０６ ５５５ ０１３８"],
    ["Second shop", "Head of sales"],
    [5, 1, 4],
  ),
  person(
    anchors.kimMinjun,
    ["Minjun", "Kim", "m"],
    ["San Francisco", "Haneul Robotics", "founder"],
    ["minjun.kim@haneul.example.net", "415.555.0163"],
    ["Seed round"],
    [5, 0, 4],
  ),
  person(
    anchors.somchaiJaidee,
    ["Somchai", "Jaidee", "m"],
    ["Sydney", "Jaidee Ceramics", "owner"],
    ["somchai@jaideeceramics.example.com", "+61 2 5550 4172"],
    ["Second shop", "Support backlog"],
    [4, 1, 4],
  ),
];

/** The person of the account "second" whose name is nearly Ann Lee's. */
export const anneLee = person(
  "Anne Lee",
  ["Anne", "Lee", "f"],
  ["London", "Lee Ceramics", "owner"],
  ["anne.lee@example.org", "+44 20 7946 0100"],
  ["Online shop"],
  [5, 1, 6],
);
