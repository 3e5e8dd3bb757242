// What stands in the notes of sessions: preparation, summaries, templates, assistants' drafts, scribbles and comments.

/** How a session is called: the first with a client, one among many, a long one, and what comes below. */
export const sessionTitles = {
  first: [
    "Intro: {first} and {me}",
    "Getting to know {company}",
    "Kick-off: {label}",
    "First session with {first}",
    "{company} – scoping",
  ],
  lead: [
    "Intro call {first}",
    "Coffee with {first}",
    "{company}: first conversation",
    "Call with {name}",
    "Lunch with {first}",
  ],
  partner: ["Catch-up {first}", "{company} – order and dates", "Coffee with {first}", "Quarterly call {first}"],
  usual: [
    "{label}: check-in",
    "{first} / {me}",
    "1:1 {first}",
    "{company} – {label}",
    "{label}, next steps",
    "Working session with {first}",
    "{label}: decisions",
    "Coaching {first}",
    "Walk with {first}",
    "{company} steering round",
    "{label}: numbers",
    "Weekly with {first}",
    "Sparring: {label}",
  ],
  review: ["{label}: review", "Half-year review {company}", "Looking back with {first}", "{label}: wrap-up"],
  workshop: ["Workshop: {label}", "{company} workshop day", "Offsite {company}: {label}"],
} as const;

/** What may stand below a title. */
export const sessionSubtitles = [
  "[Budget, roles, next date|Where we stand and what is stuck|Progress, risks, next steps|Decisions only|Numbers first, people second]",
  "with {colleague}",
  "with {colleague} and {colleague2}",
  "{label}",
  "Prepared by {first}",
  "[Online|On the phone|At their office in {city}|In my office|Over lunch]",
  "Follow-up from {lastMonth}",
  "Second part",
  "Before the board in {month}",
];

/** Meetings without a client: title and subtitle. */
export const ownMeetings: readonly (readonly [string, string | undefined])[] = [
  ["Quarterly planning", "Goals, hours, holidays"],
  ["Tax call", "VAT return and the travel costs"],
  ["Team lunch", undefined],
  ["Podcast recording", "Episode on hard conversations"],
  ["Webinar: shorter meetings", "84 registered"],
  ["Peer supervision", "Case: the silent team"],
  ["Bookkeeping", undefined],
  ["Panel: family firms in transition", "Chamber of commerce"],
  ["Writing day", "Newsletter and the long article"],
  ["Website review", "New texts, old photos"],
  ["Interview for the trade magazine", undefined],
  ["Dry run for the keynote", "Eighteen minutes, no slides"],
  ["Insurance review", "Liability, laptop, travel"],
  ["Reading group", "Chapters four to six"],
  ["Year-end clean-up", undefined],
  ["Facilitation training", "Day one of two"],
];

/** Recordings that nobody has sorted yet. */
export const strayTitles = [
  "Untitled recording",
  "Voice memo",
  "New recording 4",
  "Phone call",
  "Quick note to self",
] as const;

/** What is prepared before a meeting, line by line. */
export const prepLines = {
  last: [
    "Last time: {decision}",
    "Where you left it: {state}",
    "From the last session: {first} wanted to {step}.",
    "In {lastMonth} {first} said: “{quote}”",
  ],
  open: [
    "Still open: {trouble}",
    "Nobody has taken this on yet: {step}.",
    "Likely to come up: {trouble}",
    "Unanswered since {lastMonth}: whether to {step}.",
  ],
  ask: [
    "Ask: what has changed since we spoke?",
    "Ask what it would take {goal}.",
    "Ask {first} how {colleague} sees it.",
    "Ask about {child}, and about {hobby}.",
    "Ask for one number that shows progress.",
    "Offer: half a day on site to {step}.",
  ],
  frame: [
    "Aim of {topic}: {goal}.",
    "Time: 45 minutes. Keep ten for the next steps.",
    "Budget so far: {amount} of {budget}.",
    "Present: {first}, perhaps {colleague}.",
  ],
} as const;

/** Sentences of a summary. */
export const summarySentences = [
  "{First} opened with the good news: {state}",
  "The main difficulty remains. {trouble}",
  "Most of the hour went into {topic}.",
  "{state} {First} credits {colleague} for it.",
  "There was some back and forth on the money; {budget} is the ceiling, and {amount} is already spent.",
  "{First} and {me} agreed on one thing for now: {decision}",
  "{trouble} {Colleague} will be asked to help.",
  "{First} put it this way: “{quote}” Nobody argued.",
  "The idea to {step} found support.",
  "A plan to {step} was put off until {month}.",
  "The aim was confirmed once more: {goal}.",
  "{First} asked for a straight answer on timing and got one: not before {month}.",
  "{colleague2} joined for the last ten minutes and had one question, about the costs.",
  "The tone was [calm|warm|brisk|tense at first, better later|open].",
  "Compared with {lastMonth} there is less to worry about.",
  "{First} wants to see the next version by {weekday}.",
  "Two options were on the table; neither was chosen, and that was fine.",
  "{decision} This replaces what was said in {lastMonth}.",
];

/** What is to be done, and by whom. */
export const actionLines = [
  "{First}: {step} (by {weekday})",
  "{Me}: {step}",
  "{Colleague}: {step}",
  "{First} and {colleague}: {step}, before the end of {month}",
  "{Me}: send the summary today",
  "{First}: confirm the date in {month}",
  "{colleague2}: release {amount} from the budget",
  "Nobody yet: {step}",
];

/** What was decided. */
export const decisionLines = [
  "{decision}",
  "{decision} ({first})",
  "{decision} To be looked at again in {month}.",
  "Spending stays below {budget}.",
  "{Colleague} speaks for the team from now on.",
];

/** Templates of the user: a heading, and what may stand below it. */
export const userTemplates = [
  {
    title: "Client check-in",
    parts: [
      ["Mood", "[Good|Mixed|Tired but clear|Better than last time|Six out of ten, {he} said]."],
      ["Progress", "{state}"],
      ["Stuck", "{trouble}"],
      ["Next", "{Step}, then {step}."],
      ["Money", "{amount} used this month, {budget} in all."],
    ],
  },
  {
    title: "Coaching log",
    parts: [
      ["Goal", "{Goal}."],
      ["Reality", "{state} {trouble}"],
      ["Options", "{Step}. Or {step}. Or wait until {month}."],
      ["Will", "{First} will {step}, and tell {colleague} so by {weekday}."],
    ],
  },
  {
    title: "Decision record",
    parts: [
      ["Question", "What to do about this? {trouble}"],
      ["Decision", "{decision}"],
      ["Because", "It serves the aim {goal}."],
      ["Checked again", "In {month}, with {colleague}."],
    ],
  },
] as const;

/** What the assistant wrote when it was asked: a title and a text. */
export const assistantNotes: readonly (readonly [string, string])[] = [
  [
    "Draft: follow-up mail",
    "Dear {first},\n\nthank you for today. What I take with me: {decision}\n\nYou wanted to {step}; I will {step} and come back to you by {weekday}.\n\nBest wishes\n{Me}",
  ],
  [
    "Draft: follow-up mail",
    "Hi {first},\n\ngood to talk. In short: {state} What still needs care: {trouble}\n\nShall we look at it again in {month}? I have kept the first {weekday} free.\n\n{Me}",
  ],
  [
    "What did we promise?",
    "In the last three sessions you promised to {step} and to {step}. {First} promised to {step}. The first of these is marked as done.",
  ],
  [
    "Budget so far",
    "Mentioned in the sessions: {budget} in total, of which {amount} is spent. {First} said that {colleague} has to approve anything beyond it.",
  ],
  ["Risks", "1. {trouble}\n2. {trouble}\n3. The calendar: {month} is full on both sides."],
  [
    "Explain it to the board",
    "We set out {goal}. Today: {state} One thing we ask the board for is patience until {month}; the other is a yes to {amount}.",
  ],
  [
    "Questions for next time",
    "- What would make you stop?\n- Who has not been asked yet?\n- {First} said: “{quote}” Is that still true?",
  ],
];

/** Scribbles of the user. */
export const scribbles = [
  "{state} {trouble}",
  "Ask {colleague} re: {label}. {First} did not want to say it in front of the others.",
  "Number to remember: {amount}, not {budget}.",
  "{decision} !!",
  "Sketch of the timeline is on paper, photo in the folder. Roughly: {step} → {step} → {month}.",
  "“{quote}”",
  "Started late, {first} came straight from another call. Still useful.",
  "My part: {step}. Theirs: {step}.",
  "Pause after twenty minutes helped. Do that again.",
  "Energy dropped when {colleague2} came up. Leave it for a walk, not for a call.",
  "To self: less advice, more questions. The best moment was a silence.",
  "Left over for next time: {trouble}",
  "{First} showed the draft. Better than mine. Told {him} so.",
  "Three words for today: [slow, honest, useful|money, money, people|finally some movement|tired but clear].",
  "Contract: {colleague} wants a clause on cancellations. Fine below {amount}.",
  "Next date: {weekday}, same time. {First} brings the figures.",
  "“{Goal}”: that is the sentence for the first slide.",
  "Do not forget: {partner} works there too. Careful with names.",
];

/** What scribbles are called, where they have a title. */
export const scribbleTitles = ["My notes", "On {label}", "Afterthought", "{first}, in short", "Für später"];

/** Comments of colleagues who read the session. */
export const readerComments = [
  "Read this before I see {first} on {weekday}, very helpful. Anything on the money that is not in here?",
  "I had the same with another client: {trouble} It went away once they let {colleague} decide.",
  "Small correction: it was {colleague2} who said that, not {colleague}.",
  "+1 to this: {step}. I can help if you like.",
  "Are we sure about this one? “{decision}” They told me the opposite in {lastMonth}.",
  "Nice session. The question about the silence is going into my own notes.",
  "Can you share the template you used here?",
  "I would not wait until {month} with this.",
  "Please take the figure out before this goes to the client.",
  "Listened to minute 12 to 20: there is more worry in it than the summary says.",
  "Thanks for covering for me! I take {first} back from {month} on.",
  "For the invoice: was this 45 or 60 minutes?",
];
