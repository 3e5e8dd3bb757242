// The second half of what demo clients work on with the account's owner.
import type { Topic } from "./topic.ts";

/** Topics of work, as in `projects.ts`. */
export const moreProjects: readonly Topic[] = [
  {
    label: "Head of sales",
    name: "the search for a head of sales",
    goals: ["to have somebody in the chair before the new year", "to stop being the best seller in the house"],
    states: [
      "The shortlist is down to three.", "The first round of talks is done, and one of them was a pleasure.",
      "The job ad was rewritten without a single buzzword.",
      "References are in for two of the candidates.",
    ],
    troubles: [
      "The favourite asks for twenty per cent more.", "The team wants one of its own.", "The bonus plan rewards the wrong thing.",
      "The recruiter sends the same CV twice.",
    ],
    steps: [
      "invite the favourite to a day with the team", "write the first ninety days on one page", "settle the bonus before the offer",
      "tell the internal candidate in person",
      "ask for a reference from somebody below",
    ],
    decisions: ["No offer before the day with the team.", "The founder keeps the three oldest accounts.", "Fixed pay up, bonus down."],
    quotes: ["I hired for charm once. It was expensive.", "I want someone who tells me when to stay out of the room."],
  },
  {
    label: "Returns",
    name: "the returns project",
    goals: ["to bring returns below nine per cent", "to refund within two days instead of nine"],
    states: [
      "Every return now has a reason, and most of them say size.", "Refunds are down to four days.", "The new labels arrive with the parcel.",
      "Photos on the ten worst products were taken again.",
    ],
    troubles: [
      "One supplier's sizes are simply wrong.", "The warehouse opens returns only on Thursdays.", "The refund needs two people who are never in together.",
      "The reasons are free text, in four languages.",
    ],
    steps: [
      "send the size figures to the supplier", "open returns every day for two weeks as a trial", "let one person refund up to 100",
      "turn the reasons into a list of eight",
      "ring ten customers who sent things back",
    ],
    decisions: ["Returns stay free, but printed labels go.", "The worst five products leave the range.", "One person owns the number."],
    quotes: ["Every box that comes back costs us the profit of three.", "Customers are kinder about it than my own team."],
  },
  {
    label: "Certification",
    name: "the security certification",
    goals: ["to pass the audit without drowning in paper", "to be able to bid for public tenders by spring"],
    states: [
      "The list of assets is complete, including the router in the attic.", "Eleven of the fourteen policies are written, all of them short.",
      "The rehearsal audit found six gaps, none of them terrible.", "Everybody has a password manager, and most use it.",
    ],
    troubles: [
      "The leavers' process exists only in one head.", "Two suppliers do not answer the questionnaire.", "The backup was never restored as a test.",
      "Engineering hears the word audit and leaves the room.",
    ],
    steps: [
      "restore a backup and time it", "write the leavers' list", "replace the supplier who does not answer", "book the auditor for two days",
      "walk through an incident on a whiteboard",
    ],
    decisions: ["Policies are one page or they are not read.", "The home office is in scope.", "The audit waits until the restore has worked twice."],
    quotes: ["I want to sleep, and the certificate is the excuse.", "Half of this we should have done years ago."],
  },
  {
    label: "Two teams, one",
    name: "the merger of the two teams",
    goals: ["to have one plan and one stand-up by the end of the quarter", "to lose nobody whom we would miss"],
    states: [
      "The teams share one board since last week.", "The joint retro was loud and good.", "Six of eight roles are clear.",
      "{Colleague} and {colleague2} now plan together on Mondays.",
    ],
    troubles: [
      "Two leads want the same chair.", "One team writes things down, the other talks.", "The salaries differ and everybody knows.",
      "The remote half hears of decisions last.",
    ],
    steps: [
      "speak to both leads on the same day", "write down who decides what", "level the salaries in two steps",
      "move the stand-up so that the remote half can join", "pick one tool and close the other",
    ],
    decisions: ["One lead, named before the holidays.", "Decisions count when they are written.", "No new names until the roles are filled."],
    quotes: ["They are polite to each other, which worries me.", "I keep explaining one half to the other."],
  },
  {
    label: "Rebrand",
    name: "the rebrand",
    goals: ["to look like what we have become", "to launch the new name without losing the old customers"],
    states: [
      "The name is through the trademark search.", "Three logos are left on the wall.", "The vans will be done over two weekends.",
      "The tone of voice fits on a postcard.",
    ],
    troubles: [
      "The founder still prefers the old blue.", "The domain belongs to a man who does not answer.", "Every department wants its own tagline.",
      "The sign maker needs six weeks, not three.",
    ],
    steps: [
      "ask twenty customers what they call us", "make an offer for the domain", "count everything that bears the old logo",
      "write the letter that explains the name", "stop the print run of the old brochure",
    ],
    decisions: ["The old name stays in small print for a year.", "No tagline.", "Vans first, letterhead last."],
    quotes: ["I cried over a logo on a Tuesday, can you imagine.", "The new name should be easy to say on the phone."],
  },
  {
    label: "Support backlog",
    name: "the support backlog",
    goals: ["to answer everybody within a working day", "to stop opening tickets twice"],
    states: [
      "The backlog fell from 900 to 240.", "First answers come within nine hours on most days.", "The ten most frequent questions have a page now.",
      "The weekend rota works without bribes.",
    ],
    troubles: [
      "A third of all tickets ask where the parcel is.", "Two people do half of the work.", "The product team does not read the tags.",
      "The chat opens when nobody is there.",
    ],
    steps: [
      "put the parcel status into the first mail", "swap the product team onto support for a day", "close the chat at five",
      "write answers for the ten worst questions", "give every ticket one owner",
    ],
    decisions: ["Oldest first, no exceptions for loud ones.", "Support may refund without asking.", "One day a month the whole house answers mail."],
    quotes: ["I read fifty of them myself, and I would be angry too.", "We are fast with the easy ones and silent on the hard ones."],
  },
  {
    label: "Export",
    name: "the first export market",
    goals: ["to sell through two partners abroad by the summer", "to learn cheaply whether the north wants us"],
    states: [
      "Samples are with seven dealers, and four have answered.", "The customs papers are right at the second try.", "The label is translated and legal.",
      "The trade fair brought thirty cards and five real talks.",
    ],
    troubles: [
      "The dealer wants the country for himself.", "Freight eats half of the margin.", "The certificate is valid only at home.",
      "Nobody in the house speaks the language.",
    ],
    steps: [
      "offer one year without exclusivity", "ask for freight by the half pallet", "find a student who speaks the language", "visit the two best dealers",
      "price the product in their currency",
    ],
    decisions: ["One country at a time.", "No exclusivity without a minimum.", "The fair is booked again, with a smaller stand."],
    quotes: ["They like the product and dislike the box.", "I would rather fail small in the north than big in the south."],
  },
  {
    label: "Annual plan",
    name: "next year's plan",
    goals: ["to have five goals that everybody can recite", "to finish planning before planning becomes the work"],
    states: [
      "The long list is down to nine.", "Every team has said what it will stop.", "Finance and sales use the same numbers at last.",
      "The offsite is booked, with a room that has windows.",
    ],
    troubles: [
      "Nobody wants to say what falls off.", "The growth figure came first and the reasons later.", "Hiring is planned twice, in two sheets.",
      "Last year's goals were never closed.",
    ],
    steps: [
      "close last year's goals in one hour", "ask each team for one thing to stop", "merge the two hiring sheets", "write the plan as a letter",
      "test the goals on the newest colleague",
    ],
    decisions: ["Five goals, no sub-goals.", "Budget moves every quarter, not every year.", "What is not on the page is not planned."],
    quotes: ["Last year we had twenty-two priorities and a lovely binder.", "I want the plan to say no for me."],
  },
  {
    label: "Office move",
    name: "the move to the smaller office",
    goals: ["to cut the rent in half and keep the kitchen table", "to have a room where one can think"],
    states: [
      "The shortlist is two places, one of them with a garden.", "Desks are counted: forty people, twenty-two seats.",
      "The furniture nobody wants is photographed and numbered.", "The new lease allows the dog.",
    ],
    troubles: [
      "The lift is too small for the big table.", "Phone calls have no place in the new plan.", "The internet line takes ten weeks.",
      "Half of the team fears the commute.",
    ],
    steps: [
      "order the line before the lease is signed", "measure the lift", "ask who comes in on which days", "give the old desks to the school",
      "try the new place for a day with ten people",
    ],
    decisions: ["No assigned seats, but lockers for all.", "Tuesdays and Thursdays are the days together.", "The big table comes along, in two pieces."],
    quotes: ["We rent three floors of air.", "The kitchen table is where we decide everything."],
  },
];
