// What one writes down about people: timeline notes, the free text beside a contact, and what the AI remembers.

/** Notes on work with a client. */
export const clientNotes = [
  "[Call|Short call|Long call|Phone call] with {first} [this morning|after lunch|from the train|between two meetings]. {state} {trouble} {First} will {step}, I look at it on {weekday}.",
  "{First} rang about {topic}. {trouble} Not dramatic, but {he} wants a second pair of eyes. I said I would {step}.",
  "{state} [Good news, finally.|About time.|{First} sounded relieved.|Nobody expected it so soon.]",
  "Agreed with {first}: {step}, then {step}. Both before the end of {month}.",
  "“{quote}” – {first} on {topic}. [Worth keeping.|Use that in the review.|I wrote it on the board.|Said half as a joke.]",
  "Offer for the next phase sent: {budget}, in three parts, first part on signing. {First} wants to show it to {colleague} before {he} signs.",
  "Budget for {topic} is approved: {budget} in total, {amount} of it held back until the review. Invoice to {colleague}, not to {first}.",
  "Invoice {invoice} is [still open|paid at last|with {colleague} for approval]. [No need to chase before {weekday}.|Friendly reminder sent.|{First} apologised, their bookkeeper is new.]",
  "Contract back, signed, with one change: notice is now [two weeks|thirty days|the end of a quarter]. Fine by me. Filed.",
  "{First} asked whether we could do [half a day|two short sessions|a workshop] on site in {city}. Travel on their side. Proposed the second week of {month}.",
  "Ran into {first} at [the station|a panel|the market|the chamber]. Five minutes on {topic}: {trouble} Promised to send {him} the checklist.",
  "{trouble} {First} knows, {colleague} does not yet. Bring it up [gently|first thing|only if asked] next time.",
  "Decision, in {first}'s own words: {decision} [Hold {him} to it.|Ask again in {month}.|{Colleague} was in the room.]",
  "[Sent|Forwarded|Dropped off] the notes from last time. {First} answered within the hour: all good, but please {step} before {weekday}.",
  "{First} is [quieter|sharper|more tired|in better spirits] than in {lastMonth}. Asked, and it is not {topic}: it is [the bad sleep|the budget round|a colleague who leaves|the building works next door].",
  "New at {company}: {colleague} takes over from {colleague2}. {First} speaks well of {colleague}. Introduce myself by {weekday}.",
  "Referral: {first} gave my name to a friend in {city} who has the same trouble. Say thank you properly, not by mail.",
  "{First} moved our [Tuesday|Thursday|early] slot to the afternoon, from {month} on. Calendar is changed.",
  "For the file: the goal is {goal}. Everything else is nice to have, {he} said so twice.",
  "Voice message from {first}, four minutes long. In short: {state} But: {trouble}",
  "Asked {first} what {he} would do with one more person. Answer without thinking: {step}.",
  "Half-year review with {first} and {colleague}. What worked: short sessions, written decisions. What did not: my slides. Next review in {month}.",
  "{First} wants to stop the monthly report; nobody reads it. Replaced by a call of ten minutes on the first {weekday} of the month.",
  "Day rate question came up again. Stays at {rate}, in exchange for a fixed day every month. {First} was fine with it.",
  "Sent {first} the [template|contact|article|spreadsheet] {he} asked for. Nothing to follow up.",
  "{First}'s view on {topic} after the summer: {decision} Mine: too early, but {he} has been right before.",
  "Reminder to myself: with {first}, start with the good news, then the number, then silence.",
  "Left a message with {colleague}, {first} is away until {weekday}. Nothing burns.",
  "Cancelled our meeting on the day, the second time. Not like {him}. Ring on {weekday}, without an agenda.",
  "Before the next session: read the [board paper|minutes|offer from the agency|survey], and ask {colleague} about this: {trouble}",
  "{First} asked for a frank opinion on {colleague2}. Gave it, with two examples. {He} took notes, and thanked me at the end.",
  "Purchase order is here (PO {invoice}). [Runs to the end of {month}.|Covers six sessions.|Mention the number on every invoice.]",
  "Came back to what {he} said in {lastMonth}: “{quote}” {He} laughed and said it still holds.",
  "Workshop on {topic} is fixed: twelve people, big room, lunch included. {Colleague} brings the figures, I bring the questions.",
  "What {first} wants from me by {weekday}: one page on whether to {step}. One page, not two.",
  "{state} {decision} So the plan holds; tell {colleague2}, who was worried.",
  "Signed off the summary today. {First}'s only change: [“team” instead of “staff”|the date|the name of {colleague}|one comma].",
  "Told {first} plainly that the date will not hold: {goal}, yes, but not by {month}. {He} had guessed. We cut the scope instead.",
  "Prepaid hours: four left. {First} would rather top up than pause. Offer for ten more sent, {amount}.",
  "Dinner with {first} and two of the board in {city}. No business until dessert, then this: {decision}",
];

/** Notes that are not about work. */
export const personalNotes = [
  "{Child} starts school after the holidays. {First} takes two weeks off for it, no calls then.",
  "{First} and {partner} are going to {place} in {month}. Ask how it was.",
  "Birthday on the [3rd|9th|14th|21st|27th] of {month}. Card, not flowers.",
  "Took up {hobby} again, after years. Lights up when {he} talks about it.",
  "{Partner} had an operation, all went well. Be generous with deadlines this month.",
  "Coffee: black. Tea after three. Never book anything on a Friday afternoon, that is for {hobby}.",
  "{Child} broke an arm on the trampoline. Nothing bad, but {first} was at the hospital half the night.",
  "Moved house, ten minutes from the office now. New address is in the contract.",
  "The dog is called [Biscuit|Pepper|Otis|Waffle] and takes part in video calls. Accept it.",
  "{First} is vegetarian since {lastMonth}. Remember when booking the table.",
  "Sent a book about {hobby} for the holidays. Handwritten answer, very kind.",
  "{Partner} changes jobs in {month}; they may move away from {city}. Not public yet.",
  "Talked ten minutes about {hobby} and twenty about work. The ten were the better ones.",
  "{First}'s mother is unwell, {he} drives over every other weekend. Mornings are best for calls.",
  "{Child} is looking for a summer job. Said I would ask around.",
];

/** Notes on somebody who may become a client. */
export const leadNotes = [
  "Met {first} {origin}. Runs a team of [six|eleven|about thirty], curious about coaching, wary of consultants. Coffee in {month}.",
  "{First} wrote: they think about {topic}, budget not before {month}. Sent two references and no brochure.",
  "Intro call. They want {goal}. Good questions, no hurry. Follow up on {weekday}.",
  "No answer since the offer. One friendly line in {month}, then let it rest.",
  "{First} chose somebody local. Polite, clear, asked to stay in touch. Note for next year.",
  "Asked for a price per day, got a price per result. Silence, then: “Interesting.” Ring on {weekday}.",
  "Knows {colleague} from university. Would like to meet the two of us for lunch.",
  "Their trouble, as {he} tells it: {trouble} Sounds like more than one workshop.",
  "Has {amount} for a first step, and has to spend it before {month}. Half a day on {topic} would fit.",
  "Read my piece on short meetings and disagreed with half of it. I like {him} already.",
];

/** Notes on suppliers, peers and other people one works with. */
export const partnerNotes = [
  "{First} did the [flyers|photos|translation|contract|website texts] for {fee}. On time, one round of changes. Book again.",
  "Asked {first} for a quote until {weekday}. Usually answers on the same evening.",
  "{First} can take on two of my clients in {month} while I am away. Return the favour in spring.",
  "New bank details for {company}, confirmed by phone with {first} personally, not by mail.",
  "Closed in the first half of {month}. Order before.",
  "{First} raises prices by five per cent from {month}. Fair, the first time in four years.",
  "Swapped leads with {first} over lunch: {he} gets the studio in {city}, I get the school.",
  "Ask {first} about the room: daylight, no fixed seats, cellar if it rains.",
  "Key to the side door is with the neighbour; {first} explained the alarm twice, the code is not written down anywhere.",
  "{First} is the one to ring when the projector dies. Has saved me twice.",
];

/** Notes on friends and family. */
export const friendNotes = [
  "Dinner at {first}'s on {weekday}. Bring dessert, {partner} does not eat nuts.",
  "{First} has the ladder. And the good drill.",
  "{Child}'s concert is in {month}, third row is kept for us.",
  "Owe {first} for the tickets to {place}, {fee}. Paid half already.",
  "{First} and {partner} are back from {place}. Photos to follow, thousands.",
  "Asked {first} to look after the plants in {month}. Yes, as long as the orchid does not count.",
  "{Hobby} with {first}, first Sunday of the month. Do not be late again.",
  "Long talk with {first} about the parents. We split the visits from {month} on.",
];

/** The free text of a contact. */
export const freeTexts = [
  "{Role} at {company}, {city}. Met {origin}. Prefers calls before nine and decisions in writing.",
  "Works with {colleague} and {colleague2}. Invoices go to {colleague}. Outside work: {hobby}.",
  "Say {first}, not the full name. Partner {partner}[.|, one child ({child}).|, two children, the elder one is {child}.]",
  "First met {origin}. First project: {label}, {budget}. Pays on time.",
  "[Quick on the phone, slow by mail.|Answers mail at six in the morning.|Hates video, loves walking meetings.|Prints everything.] Assistant: {colleague}.",
  "{Company}: about [12|25|40|70|140] people, main office in {city}. {First} is the one who decides.",
  "Billing address differs from the office. VAT number is on file. Purchase order needed above {amount}.",
  "Speaks [German, English and a little Dutch|English and French|Spanish, English, some Portuguese|English only, apologises for it]. Time zone of {city}.",
  "Parking behind the building, ring at “{company}”, second floor. Coffee is excellent.",
];

/** The AI's memory of a client: the first lines, and what may follow. */
export const memoryOpenings = [
  "{First} is {role} at {company} in {city}. Current focus: {topic}. The stated aim is {goal}.",
  "{First} ({company}, {city}) has been working on {topic}. Aim: {goal}.",
  "Works as {role} at {company}. Main subject of the recent sessions: {topic}, in order {goal}.",
];

/** The lines that may follow. */
export const memoryDetails = [
  "Progress as of the last session: {state}",
  "Open difficulty: {trouble}",
  "Next step that {first} took on: {step}.",
  "Last recorded decision: {decision}",
  "A sentence {he} comes back to: “{quote}”",
  "Important people: {colleague} (day-to-day), {colleague2} (approves spending).",
  "Budget mentioned: {budget}. Asks for prices in writing.",
  "Family: {partner}, {child}. Mentions holidays in {place}.",
  "Relaxes with {hobby}; a safe opening for small talk.",
  "Prefers [short agendas|one question at a time|numbers before stories|to think aloud]; dislikes [slides|surprises|being rushed|long mails].",
  "Tends to [promise dates too early|take on too much alone|avoid the hard talk until it is late|decide fast and revise once].",
  "Sessions usually run [five minutes over|exactly to time|short when travelling].",
];
