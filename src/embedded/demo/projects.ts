// The undertakings of companies.
import { moreProjects } from "./more-projects.ts";
import type { Topic } from "./topic.ts";

/** For some months each. */
export const projects: readonly Topic[] = [
  {
    label: "Warehouse move",
    name: "the warehouse move",
    goals: [
      "to be out of the old hall before the lease ends",
      "to move without closing the order desk for a single day",
    ],
    states: [
      "The new hall is signed, and the keys come on the first of the month.",
      "Half of the slow movers are already on pallets.",
      "The floor plan is in its third version, and the loading bays finally face the right way.",
      "The trial with one aisle took five hours instead of three.",
    ],
    troubles: [
      "The racking supplier has slipped by three weeks.",
      "Nobody has told the carriers about the new address.",
      "The scanners lose the network behind aisle nine.",
      "The old landlord wants the floor paint taken off.",
    ],
    steps: [
      "get a second quote for the racking",
      "walk the new hall with the fire officer",
      "book two temps for the moving weekend",
      "send the new address to all carriers",
      "write down the order in which the aisles move",
    ],
    decisions: [
      "We move by aisle, not by customer.",
      "The returns desk stays at the old site for one more month.",
      "No new stock in the last week before the move.",
    ],
    quotes: ["I never want to count pallets at midnight again.", "If the order desk stays open, I have won."],
  },
  {
    label: "Online shop",
    name: "the new online shop",
    goals: ["to have the shop live before the autumn catalogue", "to get the basket below four clicks on a phone"],
    states: [
      "The product photos are done for two thirds of the range.",
      "The test shop takes real orders from twelve friendly customers.",
      "Search finds misspelt product names at last.",
      "The checkout went from six pages to two.",
    ],
    troubles: [
      "The payment provider wants another round of papers.",
      "The stock count in the shop lags the shelf by a day.",
      "Shipping to the islands is priced wrong.",
      "The agency's main developer leaves at the end of the month.",
    ],
    steps: [
      "test the checkout with five customers",
      "clean up the size tables",
      "ask the agency for a fixed price",
      "rewrite the delivery page in plain words",
      "move the old order history across",
    ],
    decisions: [
      "Gift cards come after launch.",
      "The old shop stays up, read only, for three months.",
      "Free delivery starts at 60, not at 40.",
    ],
    quotes: [
      "My mother should be able to buy a lamp on it without phoning me.",
      "The old shop is held together with tape and hope.",
    ],
  },
  {
    label: "CRM migration",
    name: "the CRM migration",
    goals: ["to have one place where a customer's story stands", "to switch off the three spreadsheets for good"],
    states: [
      "Two of the five teams work in the new system every day.",
      "The duplicates are down from 4,100 to about 300.",
      "The import of the old notes ran through for the first time.",
      "{Colleague} has become the person whom everybody asks.",
    ],
    troubles: [
      "Sales keeps its own list on the side.",
      "The phone numbers come in nine spellings.",
      "Nobody knows who owns the consent fields.",
      "The licence for the old system renews before the switch is done.",
    ],
    steps: [
      "agree on who may merge records",
      "run the import again with the archive",
      "record a ten-minute film for the field team",
      "ask legal about the consent fields",
      "give the old licence notice in time",
    ],
    decisions: [
      "Notes older than seven years are not moved.",
      "One owner for each customer, no exceptions.",
      "Training is an hour a week, not a day.",
    ],
    quotes: [
      "If I have to ask twice who spoke to them last, we have failed.",
      "I would rather lose a field than lose the team.",
    ],
  },
  {
    label: "Succession",
    name: "the handover of the firm",
    goals: [
      "to hand over the firm within three years and keep Sunday lunch",
      "to have the next generation sign the big contracts by next summer",
    ],
    states: [
      "{Child} has sat in on every supplier meeting since spring.",
      "The bank has met both generations and liked it.",
      "The valuation came in lower than hoped and higher than feared.",
      "The works council knows, and took it well.",
    ],
    troubles: [
      "Nobody speaks of the brother who wants out.",
      "Old customers still ring the father.",
      "The tax side is open as long as the house belongs to the firm.",
      "Two managers wait to see who wins.",
    ],
    steps: [
      "write the letter to the twenty oldest customers",
      "ask the tax adviser about the house",
      "agree on what happens in a disagreement",
      "draw the new signature rules",
      "plan the first board without the old chair",
    ],
    decisions: [
      "The father keeps an office, on another floor.",
      "Shares move in three steps.",
      "Decisions above {budget} need both signatures until the summer.",
    ],
    quotes: [
      "I built it. That does not mean that I know how to leave it.",
      "We talk about shares because talking about us is harder.",
    ],
  },
  {
    label: "Seed round",
    name: "the seed round",
    goals: ["to close the round with eighteen months of runway", "to find a lead who has sold to hospitals before"],
    states: [
      "Eleven first meetings, four second ones.",
      "The data room is complete except for the old option agreements.",
      "One term sheet is promised, none is signed.",
      "The deck is down to nine slides and better for it.",
    ],
    troubles: [
      "The churn number needs a story.",
      "Two angels want a board seat each.",
      "The lawyers argue about a clause nobody will ever use.",
      "The lead has gone quiet since the partner meeting.",
    ],
    steps: [
      "call three reference customers",
      "send the monthly numbers, good or bad",
      "rehearse the answer on churn",
      "ask the angels to pool their shares",
      "set a date on which the round closes",
    ],
    decisions: [
      "No new meetings after the end of the month.",
      "The option pool is settled before the valuation.",
      "We say no to strategic money this time.",
    ],
    quotes: [
      "I have told the story so often that I no longer hear it.",
      "Every no so far had the same sentence in it.",
    ],
  },
  {
    label: "Pricing",
    name: "the new pricing",
    goals: ["to earn money on the small accounts again", "to have three plans that fit on one page"],
    states: [
      "The new price list was shown to six customers, and nobody walked out.",
      "Margins by customer are known for the first time.",
      "The old discounts are all in one table now, and it is long.",
      "The calculator on the website matches the offers.",
    ],
    troubles: [
      "The biggest customer pays the lowest price.",
      "Sales gives the discount before anyone asks.",
      "Support hours are in no plan.",
      "The old contracts have no end date.",
    ],
    steps: [
      "write to the forty smallest accounts",
      "role-play the price talk with sales",
      "take the setup fee out of the offer",
      "find the contracts that renew this quarter",
      "ask two customers what they would cut",
    ],
    decisions: [
      "No discount without something in return.",
      "Old customers keep their price for a year.",
      "Support becomes part of the middle plan.",
    ],
    quotes: [
      "We are cheap and late. I would rather be dear and on time.",
      "I was more afraid of the price than they were.",
    ],
  },
  {
    label: "Second shop",
    name: "the second shop",
    goals: [
      "to open the second shop before the holiday season",
      "to break even in the second shop within fourteen months",
    ],
    states: [
      "The lease is down to two open points.",
      "The shelves are ordered, and the carpenter has a date.",
      "Footfall was counted on four Saturdays and one wet Tuesday.",
      "The manager for the new shop starts on a Monday soon.",
    ],
    troubles: [
      "The landlord will not pay for the new front door.",
      "The loan depends on a number that nobody can know.",
      "Two of the best people both want to move to the new shop.",
      "The sign needs a permit, and the permit needs a drawing.",
    ],
    steps: [
      "push the landlord on the door",
      "make the cash plan for a bad winter",
      "write the opening-day list",
      "ask the reading group to help with the opening",
      "agree who holds the keys",
    ],
    decisions: [
      "Opening is a soft one, on a weekday.",
      "Stock comes from the first shop for the first eight weeks.",
      "No café in the first year.",
    ],
    quotes: ["I want a shop that works without me behind the till.", "One shop is a life, two are a company."],
  },
  ...moreProjects,
];
