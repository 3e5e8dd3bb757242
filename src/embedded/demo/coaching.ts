// The undertakings of people who come for themselves.
import type { Topic } from "./topic.ts";

/** For some weeks or months each. */
export const coachingTopics: readonly Topic[] = [
  {
    label: "First hundred days",
    name: "the first hundred days as director",
    goals: ["to be trusted by the team before changing anything", "to find the three things that matter and leave the rest"],
    states: [
      "Nineteen of the twenty-four listening talks are done.", "The team has stopped mentioning the predecessor.",
      "The weekly note goes out every Friday, and people answer it.", "The first hard decision is made and explained.",
    ],
    troubles: [
      "The board asks for a plan already.", "Two peers applied for the same post.", "The calendar has no empty hour.",
      "Every question still lands on the same desk.",
    ],
    steps: [
      "block two mornings a week", "have lunch with the peer who lost out", "write down what was heard, and send it round", "give one decision away each week",
      "ask the board what it would miss",
    ],
    decisions: ["No reorganisation before day one hundred.", "Mondays are for the team, not for the board.", "The weekly note stays."],
    quotes: ["I nod so much that my neck hurts.", "They are waiting for me to be him, or not to be him."],
  },
  {
    label: "Workload",
    name: "the way back to a sane week",
    goals: ["to be home for supper four days a week", "to work a full month without a lost Sunday"],
    states: [
      "Three weeks without mail after eight.", "The deputy runs the Thursday round alone.", "Sleep is better, except on Sundays.",
      "The list of things to stop has eleven lines.",
    ],
    troubles: [
      "The phone lies beside the bed again.", "Saying no still takes a day of courage.", "Holidays were moved twice.",
      "The quiet hour is the first thing to go.",
    ],
    steps: [
      "put the phone in the kitchen at nine", "tell the team about the quiet hour", "book the holiday and pay for it", "hand over the Thursday round for good",
      "count the evenings and not the hours",
    ],
    decisions: ["Two evenings a week belong to nobody.", "Mail is read three times a day.", "The holiday is not moved a third time."],
    quotes: ["I was proud of being tired.", "My daughter drew me with a laptop."],
  },
  {
    label: "Speaking",
    name: "the big talk",
    goals: ["to give the talk without reading it", "to enjoy at least one minute of it"],
    states: [
      "The story stands without slides.", "The rehearsal in front of six friends went well after minute two.", "The opening line is found.",
      "The talk is down from forty minutes to eighteen.",
    ],
    troubles: [
      "The voice goes up when the numbers come.", "The slides are a place to hide.", "The last rehearsal was cancelled.",
      "The panel afterwards worries more than the talk.",
    ],
    steps: [
      "tell the story to somebody who does not know the trade", "cut the slide with the numbers", "rehearse standing up", "collect the five nastiest questions",
      "walk the stage the evening before",
    ],
    decisions: ["No notes, one card.", "The numbers go on a sheet for afterwards.", "Breathing first, hello second."],
    quotes: ["I hear my own voice and think: who is that?", "Once they laughed I was fine."],
  },
  {
    label: "Co-founders",
    name: "the talk with the co-founder",
    goals: ["to disagree without a cold week afterwards", "to settle who decides what"],
    states: [
      "The two of them have lunch again.", "The list of decisions is split, two thirds are undisputed.", "The first joint session was honest and short.",
      "The shares are no longer on the table every week.",
    ],
    troubles: [
      "One works at night, the other at dawn.", "The investor speaks to only one of them.", "Old promises were never written down.",
      "Both tell the team different dates.",
    ],
    steps: [
      "write down the old promises together", "see the investor as a pair", "agree on a day for hard topics", "name one decider for the product",
      "say thank you for one concrete thing",
    ],
    decisions: ["Hard topics on Wednesdays, never by chat.", "Product is decided by one, money by both.", "No dates to the team that both have not seen."],
    quotes: ["We argue about fonts because we cannot argue about us.", "I miss the garage, and I know that it was awful."],
  },
  {
    label: "Change of career",
    name: "the change of career",
    goals: ["to decide by the end of the year and mean it", "to find out what a Tuesday would look like"],
    states: [
      "Seven conversations with people who made the leap.", "The savings last for fourteen months.", "Two trial days are done, and the second one was fun.",
      "The letter of resignation exists, without a date.",
    ],
    troubles: [
      "The salary is hard to give up.", "The parents do not know yet.", "Every weekend the plan changes.", "The reference depends on a boss who would be hurt.",
    ],
    steps: [
      "do the sums for a lean year", "ask for a month of unpaid leave", "spend a week in the new trade", "tell {partner} the whole plan",
      "write down what must not be lost",
    ],
    decisions: ["A trial month before any notice.", "No new plan on Sundays.", "The savings have a floor."],
    quotes: ["I am good at it, and it bores me.", "What if I miss the badge more than the work?"],
  },
  {
    label: "The book",
    name: "the book",
    goals: ["to hand in the manuscript before the summer", "to write the book that was missing ten years ago"],
    states: [
      "Eight of twelve chapters stand.", "The agent likes the new opening.", "The interviews are all typed out.", "The title has survived three weeks.",
    ],
    troubles: [
      "Chapter five eats its own tail.", "The mornings are full of meetings.", "The publisher wants more recipes for success.",
      "One interview partner takes back a quote.",
    ],
    steps: [
      "write five hundred words before mail", "cut chapter five in two", "ask for the quote in writing", "show the first chapter to a stranger",
      "agree on a date with the editor",
    ],
    decisions: ["Mornings until ten are for writing.", "Twelve chapters, not fourteen.", "No more interviews."],
    quotes: ["I write best when I should be doing my tax.", "The book knows more than I do, and it will not tell."],
  },
];
