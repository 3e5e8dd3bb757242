// Pieces of conversation: M is the owner of the account, C the client; a piece keeps to one matter.

/** Who speaks, and what. */
export type Turn = readonly ["M" | "C", string];

/** Reads pieces that are parted by blank lines. */
function pieces(text: string): readonly (readonly Turn[])[] {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((piece) =>
      piece.split("\n").map((line): Turn => [line.trim().startsWith("M") ? "M" : "C", line.trim().slice(3)]),
    );
}

/** How it begins. */
export const openings = pieces(`
  M: Good morning, {first}. Can you hear me?
  C: Loud and clear. [Give me a second, I am closing the door.|Sorry for the noise, they are mowing outside.|One moment, the kettle is on.]
  M: Take your time. [We have the full hour.|I have until half past.|There is no hurry today.]

  M: Hello {first}. How was {place}?
  C: Too short. We came back on Sunday night, and on Monday at eight I was already in the middle of {topic}.
  M: So one day of rest and then straight in. All right, let us use that energy.

  C: Hi {me}, I am on the train, so if I vanish, that is a tunnel and not an opinion.
  M: Understood. I am recording as always, is that fine with you?
  C: Of course. {colleague} reads the summary anyway, and I stopped taking notes because of it.

  M: You look better than last time, if I may say so.
  C: I slept. {Partner} took {child} to {place} for the weekend, and the house was silent. I even got round to {hobby}.
  M: Good. Keep that in mind when we speak about the calendar later.

  C: Before we start: I have ten minutes less than planned, {colleague} needs me for the figures at the end.
  M: Then let us begin with what matters most. What is it?
  C: {Topic}. Everything else can wait.

  M: The little red light is on, so we are recording. Where shall we begin?
  C: With the good news for once. {state}
  M: That is good news indeed. Tell me how it came about.
`);

/** Where things stand, and what is in the way. */
export const matters = pieces(`
  M: So, {topic}. Where are we?
  C: {state} I did not expect that in {lastMonth}.
  M: [And what is the part that you are not telling me yet?|And the other half of the story?|I hear a “but” coming.|What would {colleague} add?]
  C: [Ha.|You know me.|All right.|Well.] {trouble}

  C: [I should be honest.|There is something else.|I would rather not say it, so I say it first.] {trouble} [I have known it for two weeks, and I kept it to myself.|I have carried that around since {lastMonth}.|I did not put it into the report.]
  M: [What stopped you from saying it?|Who else knows?|What made you keep it to yourself?]
  C: [I thought that I could fix it quietly. And then it was Friday, and then it was the next Friday.|{Colleague} suspects it. I wanted to have an answer before the question.|Pride, I think. It was my idea in the first place.]
  M: [It is said now. What is the smallest thing that would help?|Good that it is out. Where would you begin?|Now it is on the table. What is one thing that helps?]
  C: To {step}, [I suppose. That is one phone call.|probably. I could do it today, before the others leave.|and to do it myself this time.]

  M: What has moved since we last spoke?
  C: More than I thought. {state} {Colleague} did most of it, to be fair.
  M: [Did you tell {colleague} that?|Does {colleague} know that you see it?]
  C: [Not in those words. I will.|I said thank you in passing. That does not count, does it?|I will, on {weekday}, in front of the others.]

  C: [The thing that keeps me awake is a different one.|What I really worry about is this.|There is one thing that I cannot get round.] {trouble}
  M: [If that stays as it is for three months, what happens?|What does it cost you, if nobody does anything?|Suppose it stays like that until {month}.]
  C: [Then we miss it. The whole point was {goal}, and that would be gone.|It costs us the trust of {colleague2}, and then we can forget the rest. We wanted {goal}.|We would manage, somehow. But we set out {goal}, and managing is not that.]
  M: [So it belongs at the top of the list, above the nice things.|That sounds like the first item, not the ninth.|Then why is it not on today's list?]

  M: Remind me what all of this is for. One sentence.
  C: One sentence. {Goal}.
  M: And how much of last week went into that?
  C: [Honestly? A tenth. The rest was mail, and people standing in my door.|One morning. A good one, but one.|Less than I would like to say with the little red light on.]

  C: We had a long talk about it on {weekday}, {colleague}, {colleague2} and I. In the end we said: {decision}
  M: Who said it, and who only nodded?
  C: [{Colleague} said it. {colleague2} nodded, but with that face.|{colleague2} said it, and {colleague} looked at the table.|I said it. They nodded. You see the pattern.]
  M: [Then I would ask {colleague2} once more, alone, before it is written down.|A nod in a meeting is worth little. Ask again on {weekday}.|Would they say the same in the corridor?]

  M: You wanted to {step}. Did it happen?
  C: [Half. I wrote the mail, and it is still in the drafts.|Nearly. The mail is written, and I look at it every morning.|Not yet. It is in my drafts, between two invoices.|I began. Then the phone rang, and you know how it goes.]
  M: [What would the finished mail say?|Read it to me, if you like.|What is the shortest version?|What is missing?]
  C: [What I just told you. Three lines. I make it longer than it has to be.|Less than I thought. It is two sentences and a date.|The date, really. Everything else is decoration.|My courage, mostly. The words are there.]

  C: Look. {trouble} [And everybody acts surprised, as if it had not been on the list since {lastMonth}.|It is the third time this year.|I am tired of hearing myself say it.]
  M: Who owns that line on the list?
  C: [Nobody. All of us. You see the problem.|On paper {colleague2}. In truth it wanders.|I do, I fear.]
  M: [I do. Put one name behind it before the day is over, even if it is the wrong name.|Then settle that first, and the line itself second.|One name, one date. That is all it takes to begin.]

  C: Something small. {state} [And I noticed that I did not enjoy it, I went straight on to the next thing.|Nobody celebrated. We just moved the card on the board.|And my first thought was what is still missing.]
  M: [What would enjoying it look like?|What would it take to stop for a moment?]
  C: [Cake, probably. For the team. With {colleague}'s name on it.|An hour off for everybody, on a sunny day.|A proper lunch, away from the desks. {Colleague} would know where.]

  M: Let me play the sceptic. {trouble} Why should it be different by {month}?
  C: [Because this time somebody is in charge of it, and because we agreed to {step}. That is a real difference.|It would not be, if we did nothing. But {colleague} has begun to {step}.|Because I will {step} myself. I have cleared {weekday} for it.]
  M: [Good answer. I would put it on the first slide.|I believe you. Will the board?|Fair enough. I take the sceptic's hat off.]

  C: Do you know what {colleague} said? “{quote}” In front of everybody.
  M: And how did that land?
  C: [It was very quiet, and then people laughed. The good kind. We got more done after that than in the hour before.|{colleague2} wrote it on the wall. It is still there.|Half of them agreed, and the other half agreed later, by mail.]

  M: If you could decide it alone, right now?
  C: {decision}
  M: [That came fast. So it is not a question of knowing.|You did not have to think for long.|No hesitation at all. Interesting.]
  C: [No. It is a question of saying it aloud in a room in which not everybody will like it.|I have known it since {lastMonth}. I wanted somebody else to say it.|No. But deciding alone is how we got here.]

  C: I looked at the plan again with fresh eyes. There are two things that I would do this week: {step}, and {step}.
  M: And which of the two would you do if there were only one?
  C: [The first. The second one is more fun.|The second. It is the one that I keep moving.|Neither, if I am tired. The first, if I am not.]
  M: [Then you know what comes on {weekday} morning.|Put that one into the calendar, with a time.|Good. The other one may wait until {month}.]

  M: Last time you said something that stayed with me: “{quote}” Is it still true?
  C: Less so. Since then this has happened: {state} It takes the edge off.
  M: [That is quite a change for a few weeks.|So sentences expire, too.|Write the new one down, for the next time.]

  C: May I think aloud for a minute? If we do not {step}, then {colleague} has to do it, and then {colleague2} is alone with the rest, and then we are where we were in {lastMonth}.
  M: [So it hangs on one thing.|I hear a single knot in all of that.|Where in this chain can you pull?]
  C: [It does. I had not seen it like that. It all hangs on one thing, and it is not even a hard one.|At the very beginning. That is the annoying part.|With {colleague}. If that is settled, the rest follows.]
`);

/** Money, contracts and dates. */
export const dealings = pieces(`
  M: Let us talk about money before it is too late in the hour.
  C: Fine. The budget is {budget}, that has not changed. What has changed is that {amount} of it is gone already.
  M: On what?
  C: Half on things that we planned, half on repairing things that we had not planned. I can send you the sheet.

  C: {Colleague} asks whether your invoice could be split: one part this quarter, one part in {month}.
  M: No problem. Put the order number on it and I will write two.
  C: Thank you. That saves me a discussion about cost centres, and I have had enough of those.

  M: The contract runs until the end of {month}. Do you want to go on?
  C: Yes, but less often. Every three weeks instead of every two, and with the option to call you when the house is on fire.
  M: We can do that. I send you a page, no new contract, just a page.

  C: They want to know what we get for {budget}. In one number, ideally.
  M: And what would you say, without the number?
  C: That we are closer. {state} And that I have stopped doing three people's work.
  M: I would say exactly that, and then give the number as a footnote.

  C: The offer came in at {amount} more than the first one. Same supplier, same work.
  M: Did they say why?
  C: Steel, wages, the weather. I would rather ask a second one than argue with the first.
  M: Ask, and tell the first that you are asking. It is quicker than arguing.

  M: When is the real deadline? Not the one in the plan.
  C: The end of {month}. The one in the plan is two weeks earlier, and everybody knows it.
  M: Then it is not a deadline, it is decoration. I would drop one of the two.

  C: We have to sign by {weekday}. {Colleague} has read all of it and found two things: the notice period, and who pays when it is late.
  M: Are these two worth losing a week?
  C: The second one is. The first one I can live with.
`);

/** Other people. */
export const people = pieces(`
  M: How is {colleague} doing?
  C: Better than I deserve. Took over the Thursday round without a word, and it is shorter now.
  M: That is worth more than a remark in the corridor.
  C: I know. There is a raise in the plan, and I will say it myself, not through a letter.

  C: I have to speak with {colleague2}, and I have been putting it off since {lastMonth}.
  M: What is the sentence that you are afraid of?
  C: “I do not think that this role is right for you.” There. That is the sentence.
  M: Say it once more, a little slower.
  C: I do not think that this role is right for you. All right. It does not sound as cruel as it did in my head.

  C: {Colleague} and {colleague2} do not talk. They send each other tables.
  M: What would happen if you took the tables away?
  C: They would have to meet. Oh. Yes, I could simply cancel the report.

  M: Who in the team will be glad, and who will not?
  C: {Colleague} will be glad. {colleague2} not at first, and the others wait to see what I do.
  M: And what will they see you do?
  C: That I {step}, myself, in the first week. Not delegated.

  C: Somebody gave notice on {weekday}. A good one. I did not see it coming.
  M: What did you hear when you asked why?
  C: That nobody had asked in a year. That was the answer, and it was hard to hear.
  M: It is also something that you can mend, with everybody else, starting tomorrow.

  M: You speak about the team as “they” today.
  C: Do I? Hm. In {lastMonth} I still said “we”. I was away a lot.
  M: What would bring back the “we”?
  C: A whole day in the same room. No agenda before lunch.
`);

/** Home, holidays, and all that comes up in between. */
export const smallTalk = pieces(`
  C: Sorry, that was {child} at the door. [There is no school today.|The maths homework is a matter of life and death.|There is a tooth missing that was there this morning.]
  M: Say hello from me. Do you need a minute?
  C: No, no. {Partner} is on it.

  M: Are you still doing {hobby}?
  C: Every week, or I become unbearable. {Partner} puts it in the calendar now, before anything else can go there.
  M: A wise person.

  C: We are going to {place} in {month}, the whole family, my parents too.
  M: How long?
  C: Ten days. I have promised not to bring the laptop. {Child} wants that in writing.
  M: Write it. I am your witness.

  C: Hang on, you are frozen. Now you are back. You said something about {month}?
  M: I said that {month} is full, but the week before still has room.
  C: Then let us take the week before.

  M: I think you are on mute.
  C: … and that is the whole story. Oh no. How long was I on mute?
  M: About a minute. It looked very convincing.
  C: Then the short version: {state}

  C: Did I tell you that we have a dog now? Do not ask. {Child} won.
  M: What is it called?
  C: [Biscuit. Nobody asked me.|Waffle. It was a democratic vote.|Otis, after the lift. Do not ask.]

  C: My mother asked me what it is that you do. I said that I pay you to ask me questions. She said that she had done so for free for forty years.
  M: She is right, and I would not dare to compete.
`);

/** Questions that open something. */
export const questions = pieces(`
  M: What are you pretending not to know?
  C: That is unfair. [Let me think.|Phew.|Hm.] That it takes longer than I told them. By a quarter at least.
  M: Who else knows it?
  C: {Colleague}. And {colleague} keeps quiet out of kindness.

  M: On a scale from one to ten, how sure are you?
  C: [Six. Seven on Mondays.|Seven, and I was at four in {lastMonth}.|Five. Do not look at me like that.]
  M: [What would make it one more?|What would move it up by one?]
  C: If we managed to {step} before {month}. Then I would sleep, and so would {colleague}.

  M: Imagine that it is a year from now and it went well. What do you see?
  C: I see an ordinary Wednesday. Nobody rings me at lunch. We did what we set out to do, {goal}, and nobody talks about it any more.
  M: I like that the picture is so quiet.

  M: What would you tell a friend who is in your place?
  C: To stop polishing. To {step} and see what happens.
  M: And what makes it harder for you than for the friend?
  C: [The friend does not have my name on the door.|The friend did not promise it to {colleague}.|The friend sleeps.]

  M: What do you want to be asked today?
  C: Whether I still want this. And the answer is yes, but not like this, not with every evening.
  M: Then let us find out which evenings.

  M: You smiled just now. What was that?
  C: I remembered how it looked in {lastMonth}. {trouble} That seemed like the end of the world, and today it is a line in a table.
  M: Shall we write that down, for the next end of the world?
`);

/** How it ends. */
export const closings = pieces(`
  M: We have five minutes left. What do you take with you?
  C: Two things. I {step}, and I talk to {colleague} before {weekday}.
  M: And I {step} and send you the summary tonight.
  C: Thank you, {me}. That was [good|needed|shorter than it felt|worth the hour].

  C: I have to run, the others are already in the room.
  M: Run. One sentence for the record: what is decided?
  C: {decision}
  M: Noted. Until {weekday}, {first}.

  M: When shall we speak again?
  C: Second week of {month}, before the board. The same time is fine.
  M: I will send the invitation. Greetings to {partner} and {child}.
  C: Will do. Bye, {me}.

  M: Let me sum up. {state} {trouble} And the next step is yours: {step}.
  C: Sounds simple when you say it.
  M: It is simple. It is just not easy. Good luck, {first}.
  C: Thanks. Talk soon.
`);
