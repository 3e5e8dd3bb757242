// What recorders of meetings export becomes a session with its transcript and notes, by the mapping of the guide.
import fc from "fast-check";
import { expect, test } from "vitest";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { readRecording } from "../../src/cli/formats/recording.ts";
import { speakerAt } from "../../src/sessions/speakers.ts";
import type { SessionItem, SessionNoteItem, TranscriptItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf } from "./entries.ts";

interface Meeting {
  session?: Record<string, unknown>;
  transcript?: string[];
  notes: Record<string, string | undefined>;
  problem?: string;
}

/** The meetings of a file, with the lines of their transcripts. */
async function meetings(text: string, file = "call.vtt"): Promise<Meeting[]> {
  const found: Meeting[] = [];
  for (const { content } of await everyOf(readRecording(linesOf(chunksOf(text)), file))) {
    if ("problem" in content) found.push({ notes: {}, problem: content.problem });
    if (!("record" in content)) continue;
    const { record } = content.record;
    if (record.case === "session") found.push({ session: shown(record.value), notes: {} });
    const last = found.at(-1) as Meeting;
    if (record.case === "transcript") last.transcript = (record.value as TranscriptItem).transcript?.split("\n") ?? [];
    if (record.case === "sessionNote") {
      const { title = "", content: note } = record.value as SessionNoteItem;
      last.notes[title] = note;
    }
  }
  return found;
}

function shown({ $typeName: _type, externalId: _id, sessionDate, sessionDateEnd, ...rest }: SessionItem) {
  const [start, end] = [sessionDate, sessionDateEnd].map((time) => time && timestampDate(time).toISOString());
  return JSON.parse(JSON.stringify({ ...rest, start, end })) as Record<string, unknown>;
}

test("a transcript of Zoom has its speakers, its times and its start, and consecutive cues of a speaker are one line [OPS-04]", async () => {
  const text =
    "WEBVTT\r\n\r\n1\r\n00:00:03.120 --> 00:00:06.480\r\nAda King: The engine weaves\r\n\r\n2\r\n00:00:06.480 --> 00:00:09.760\r\nAda King: algebraic --> patterns,\r\nand more.\r\n\r\n3\r\n00:01:09.760 --> 00:01:11.200\r\nBo Lee: 42\r\n";
  expect(await meetings(text, "/a/GMT20260302-090005_Recording.transcript.vtt")).toEqual([
    {
      session: {
        title: "Recording",
        source: "zoom",
        conferenceProvider: "zoom",
        start: "2026-03-02T09:00:05.000Z",
        end: "2026-03-02T09:01:16.200Z",
      },
      transcript: ["[00:00:03] Ada King: The engine weaves algebraic --> patterns, and more.", "[00:01:09] Bo Lee: 42"],
      notes: {},
    },
  ]);
});

test("a transcript of Teams has its voices; notes, styles, tags and settings of WebVTT are no speech [OPS-04]", async () => {
  const id = "0a1b2c3d-0000-4000-8000-000000000000/5-0";
  const text = `\uFEFFWEBVTT - x\nKind: captions\n\nNOTE made\nby a program\n\nSTYLE\n::cue { color: red }\n\n${id}\n00:01.000 --> 00:02.000 align:start\n<v Ada King>Hello <i>there</i> &amp; <00:01.500>all</v>\n<v.loud Bo>Hi</v>\n\n01:00:00.000 --> 01:00:01.000\n42\n`;
  const [meeting] = await meetings(text);
  expect(meeting?.session).toEqual({ title: "call", source: "teams", conferenceProvider: "teams" });
  expect(meeting?.transcript).toEqual(["[00:00:01] Ada King: Hello there & all", "[00:00:01] Bo: Hi", "[01:00:00] 42"]);
});

test("SRT and SBV are read, also without empty lines between their cues [OPS-04]", async () => {
  const srt = "1\n00:00:01,000 --> 00:00:02,000\nAda: one\n2\n00:00:02,000 --> 00:00:03,000\n{\\an8}Bo: <b>two</b>\n";
  expect((await meetings(srt, "call.srt"))[0]?.transcript).toEqual(["[00:00:01] Ada: one", "[00:00:02] Bo: two"]);
  const sbv = "0:00:01.000,0:00:02.000\none\n\n0:01:05.000,0:01:06.000\ntwo\n";
  expect((await meetings(sbv, "call.sbv"))[0]?.transcript).toEqual(["[00:00:01] one", "[00:01:05] two"]);
});

test("a text of Otter or Teams has a heading for each speaker, and one of Google Meet has lines [OPS-04]", async () => {
  const otter =
    "Ada King  0:02  \nHello.\nHow are you?\n\nUnknown Speaker  1:02:03  \nWell: thanks.\n\nTranscribed by https://otter.ai\n";
  const [first] = await meetings(otter, "Call.txt");
  expect([first?.session?.["source"], first?.transcript]).toEqual([
    "otter",
    ["[00:00:02] Ada King: Hello. How are you?", "[01:02:03] Unknown Speaker: Well: thanks."],
  ]);
  const meet =
    "# Weekly sync\n\n### 00:00:00 {#00:00:00}\n\n**Ada King:** Hello.\n\n**Bo Lee:** Hi, it is\n9 already.\n\n### 00:05:00\n\n**Ada King:** Bye.\n\n### Meeting ended after 00:06:00 👋\n\n*This editable transcript was computer generated and might contain errors.*\n";
  const [second] = await meetings(meet, "Weekly sync (2026-03-02 10:00 GMT+1) - Transcript.txt");
  expect(second?.session).toEqual({
    title: "Weekly sync",
    source: "google_meet",
    conferenceProvider: "google_meet",
    start: "2026-03-02T09:00:00.000Z",
  });
  expect(second?.transcript).toEqual([
    "Weekly sync",
    "[00:00:00] Ada King: Hello.",
    "[00:00:00] Bo Lee: Hi, it is 9 already.",
    "[00:05:00] Ada King: Bye.",
  ]);
});

test("a text in the form of a transcript, with brackets or with times before the speakers keeps its speakers [OPS-04]", async () => {
  const lines = ["[00:00:15] Ann Lee: Hello.", "[00:01:00] Bo: Hi."];
  const texts = [
    "[00:00:15] Ann Lee: Hello.\n[00:01:00] Bo: Hi.\n",
    "00:00:15 Ann Lee: Hello.\n00:01:00 Bo: Hi.\n",
    "[Ann Lee] 00:00:15\nHello.\n\n[Bo] 00:01:00\nHi.\n",
    "Ann Lee (00:15):\nHello.\n\nBo [01:00]\nHi.\n",
    "@0:15 - Ann Lee\nHello.\n\n@1:00 - **Bo**\nHi.\n",
    "Ann Lee | 00:15\nHello.\n\nBo | 01:00\nHi.\n",
    "[Ann Lee 00:15] Hello.\n[Bo, 01:00] Hi.\n",
    "Ann Lee: 00:00:15\n\nHello.\n\nBo: 00:01:00\n\nHi.\n",
    '![](a.png){width="1in"}\n\n**Ann Lee** 0:15\\\nHello.\\\n\n[**Bo** ]{.mark}1:00\\\nHi.\n',
    "Ann Lee: (00:15)\nHello.\n\nBo: (01:00)\nHi.\n",
    "**Ann Lee** (00:15): Hello.\n\n**Bo** (01:00): Hi.\n",
    "[00:15.2 --> 00:17.4] Ann Lee: Hello.\n[01:00.0 --> 01:02.0] Bo: Hi.\n",
    "00:00:15 From Ann Lee to Everyone:\n\tHello.\n00:01:00 From  Bo : Hi.\n",
    "[27/01/2026, 0:00:15] Ann Lee: Hello.\n[27/01/2026, 0:01:00] Bo: Hi.\n",
  ];
  for (const text of texts) expect((await meetings(text, "call.txt"))[0]?.transcript, text).toEqual(lines);
});

test("captions keep the speakers that programs name in their own ways [OPS-04]", async () => {
  const [first, second] = ["00:00:15.000 --> 00:00:17.000", "00:01:00.000 --> 00:01:02.000"];
  const webex = `WEBVTT\n\n1 "Ann Lee" (4711)\n${first}\nHello.\n\n2 "Bo Day" (4712)\n${second}\nHi.\n`;
  // A label within what she says names nobody.
  const labelled = `WEBVTT\n\n1 "Ann Lee" (4711)\n${first}\nMorning: hello.\n`;
  expect((await meetings(labelled))[0]?.transcript).toEqual(["[00:00:15] Ann Lee: Morning: hello."]);
  const broadcast = `1\n${first}\n>> Ann Lee: Hello.\n\n2\n${second}\n[Bo Day]: Hi.\n`;
  const dashes = `1\n${first}\n- Ann Lee: Hello.\n\n2\n${second}\n- Bo Day: Hi.\n`;
  const lines = ["[00:00:15] Ann Lee: Hello.", "[00:01:00] Bo Day: Hi."];
  for (const text of [webex, broadcast, dashes]) expect((await meetings(text))[0]?.transcript, text).toEqual(lines);
  // In brackets or alone above what is said, a name is above several captions.
  for (const named of [(name: string) => name, (name: string) => `(${name})`]) {
    const [hello, hi] = [`${first}\n${named("Ann Lee")}\nHello.\n\n`, `${second}\n${named("Bo Day")}\nHi.\n\n`];
    const [meeting] = await meetings(`WEBVTT\n\n${hello}${hi}${hello}${hi}`);
    expect(meeting?.transcript).toEqual([...lines, ...lines]);
  }
});

test.each([
  ["The New York Times\nreported it.", "[00:00:15] The New York Times reported it."],
  ["[Door Slams] Hello.", "[00:00:15] [Door Slams] Hello."],
  ["Let's read\nJohn 3:16\nFor God", "[00:00:15] Let's read John 3:16 For God"],
  ["Remember:", "[00:00:15] Remember:"],
  ["- Ann: Hello.\n- Yes.", "[00:00:15] Ann: Hello.\n[00:00:15] Yes."],
])("a caption with %j loses no word, and no two people are one [OPS-04]", async (said, expected) => {
  const [meeting] = await meetings(`WEBVTT\n\n00:00:15.000 --> 00:00:17.000\n${said}\n`);
  expect(meeting?.transcript?.join("\n")).toBe(expected);
});

test.each([
  ["Ann: When?\nBo: 9:30\nAnn: OK.", ["Ann: When?", "Bo: 9:30", "Ann: OK."], "Ann"],
  [
    "Action Items:\nAnn: Send it.\nBo: Call.\nAnn: OK.",
    ["Action Items:", "Ann: Send it.", "Bo: Call.", "Ann: OK."],
    "Ann",
  ],
  [
    "Weekly Sync 10:00 AM\n\nAnn: One.\nBo: Two.\nAnn: OK.",
    ["Weekly Sync 10:00 AM", "Ann: One.", "Bo: Two.", "Ann: OK."],
    "Ann",
  ],
  [
    "**Ann:** [00:03] One.\n**Bo:** (1:15) Two.\n**Ann:** [sic] OK.",
    ["[00:00:03] Ann: One.", "[00:01:15] Bo: Two.", "[00:01:15] Ann: [sic] OK."],
    "Ann",
  ],
  [
    "[00:00:03] Ann: One.\n[00:00:15] Jean d'Arc: Two.",
    ["[00:00:03] Ann: One.", "[00:00:15] Jean d'Arc: Two."],
    "Jean d'Arc",
  ],
  ["[00:00:03] Ann: One.\n[00:00:15] Two.", ["[00:00:03] Ann: One.", "[00:00:15] Two."], undefined],
  [
    "[1/2/26, 9:00:00] Ann: One.\n[1/2/26, 9:00:05] +49 170 1: https://x.com",
    ["[09:00:00] Ann: One.", "[09:00:05] +49 170 1: https://x.com"],
    "+49 170 1",
  ],
  [
    "[1/2/26, 23:00:00] Ann: One.\n[2/2/26, 9:00:00] Ann: Two.",
    ["[1/2/26, 23:00:00] Ann: One.", "[2/2/26, 9:00:00] Ann: Two."],
    "Ann",
  ],
  [
    "Ann, [1.2.2026 23:00]\nOne.\nBo, [2.2.2026 9:00]\nTwo.\nAnn, [2.2.2026 9:01]\nThree.",
    ["Ann, [1.2.2026 23:00]", "One.", "Bo, [2.2.2026 9:00]", "Two.", "Ann, [2.2.2026 9:01]", "Three."],
    "Ann",
  ],
  [
    "SPEAKER_00 00:03\nOne.\nSPEAKER_01 00:15\nTwo.",
    ["[00:00:03] SPEAKER_00: One.", "[00:00:15] SPEAKER_01: Two."],
    "SPEAKER_01",
  ],
  [
    "Ann Lee  0:03\nOne.\n\nBo Day  0:15\nQuestion: two?",
    ["[00:00:03] Ann Lee: One.", "[00:00:15] Bo Day: Question: two?"],
    "Bo Day",
  ],
  [
    "[00:00:03] Ann Lee\nOne.\n\n[00:00:15] Bo Day\nTwo.",
    ["[00:00:03] Ann Lee: One.", "[00:00:15] Bo Day: Two."],
    "Bo Day",
  ],
  [
    "A memo.\n\nIt is long.\n\nQuestion: where?\n\nThe end.",
    ["A memo.", "", "It is long.", "", "Question: where?", "", "The end."],
    undefined,
  ],
])(
  "a text as %j has each turn, and the speaker of the last is found again [OPS-04, MCP-40]",
  async (text, lines, speaker) => {
    const [meeting] = await meetings(text, "call.txt");
    expect(meeting?.transcript).toEqual(lines);
    const transcript = lines.join("\n");
    expect(speakerAt(transcript, transcript.length - 1)).toBe(speaker);
  },
);

test.each([
  [
    "Ann Lee: One.|Two.|Bo Day: Three.|Ann Lee: Four.|[Music]",
    "Ann Lee: One. Two.|Bo Day: Three.|Ann Lee: Four.|[Music]",
  ],
  ["Ann Lee: One.|Two.|Ann Lee: Three.|Bo Day: Four.|Five.", "Ann Lee: One.|Two.|Ann Lee: Three.|Bo Day: Four.|Five."],
])("a speaker is carried on only if each name is of another one than before: %s [OPS-04]", async (said, expected) => {
  const clock = (at: number): string => `00:00:${String(at).padStart(2, "0")}`;
  const cues = said.split("|").map((text, at) => `${clock(at)}.000 --> ${clock(at + 1)}.000\n${text}\n`);
  const lines = said.split("|").map((text, at) => `[${clock(at)}] ${text}`);
  for (const text of [`WEBVTT\n\n${cues.join("\n")}`, lines.join("\n")]) {
    const [meeting] = await meetings(text, "call.txt");
    expect(meeting?.transcript?.map((line) => line.slice(11)).join("|")).toBe(expected);
  }
});

test("a cue keeps the text after a line that looks empty or, outside of WebVTT, is empty [OPS-04]", async () => {
  const cue = "00:00:01.000 --> 00:00:03.000\nAnn: One";
  const next = "00:00:04.000 --> 00:00:05.000\nBo: &#39;Three&quot;\n";
  const lines = ["[00:00:01] Ann: One two", "[00:00:04] Bo: 'Three\""];
  for (const text of [
    `WEBVTT\n\n${cue}\n \ntwo\n\nNOTE no speech\n\n${next}`,
    `WEBVTT\n\n${cue}\n \ntwo\n \nlast\n${next}`,
    `1\n${cue}\n\ntwo\n\n2\n${next}`,
    `WEBVTT\n\n${`${cue}\n\ntwo\n\n${next}`.replaceAll("000\n", "000\n\n")}`,
  ])
    expect((await meetings(text))[0]?.transcript).toEqual(lines);
});

test.each([
  ["Unix", "\n"],
  ["Windows", "\r\n"],
])(
  "a text of %s with properties in YAML has their title and date, and keeps them as a note [OPS-04]",
  async (_, end) => {
    const yaml = "title: 'Ann''s week: a review'\ndate: 2026-03-11\ntags: [weekly]";
    const text = `---\n${yaml}\n---\n\nAnn: Hello.\nBo: Hi.\nAnn: Bye.\n`;
    const [meeting] = await meetings(text.replaceAll("\n", end), "call.md");
    expect(meeting).toEqual({
      session: { title: "Ann's week: a review", source: "recording", start: "2026-03-11T00:00:00.000Z" },
      transcript: ["Ann: Hello.", "Bo: Hi.", "Ann: Bye."],
      notes: { Notes: yaml },
    });
  },
);

const instant = (second: number): string => `0:00:${second}`;
const [late, early] = [Date.parse("2026-03-12T23:58:00Z") / 1_000, Date.parse("2026-03-14T08:01:00Z") / 1_000];

test.each([
  [
    "Video Indexer",
    {
      videos: [
        {
          insights: {
            transcript: [
              { id: 1, text: "One", speakerId: 1, instances: [{ start: instant(3), end: instant(5) }] },
              { id: 2, text: "Two", speakerId: 2, instances: [{ start: instant(15), end: instant(17) }] },
            ],
            speakers: [
              { id: 1, name: "Ann" },
              { id: 2, name: "Bo" },
            ],
          },
        },
      ],
    },
    ["[00:00:03] Ann: One", "[00:00:15] Bo: Two"],
  ],
  [
    "the timeline of Zoom",
    {
      timeline: [
        { text: "One", ts: "00:00:03.120", end_ts: "00:00:05.000", users: [{ username: "Ann", zoom_userid: "x" }] },
        { text: "Two", ts: "00:00:15.120", end_ts: "00:00:17.000", users: [{ username: "Bo", zoom_userid: "y" }] },
      ],
    },
    ["[00:00:03] Ann: One", "[00:00:15] Bo: Two"],
  ],
  [
    "Telegram",
    {
      name: "Team",
      messages: [
        { id: 1, date: "2026-03-13T00:58:00", date_unixtime: String(late), from: "Ann", from_id: "user1", text: "One" },
        {
          id: 2,
          date: "2026-03-14T09:01:00",
          date_unixtime: String(early),
          from: "Bo",
          from_id: "user2",
          text: ["Two ", { type: "link", text: "https://x.example" }, "!"],
        },
      ],
    },
    ["[2026-03-12 23:58:00] Ann: One", "[2026-03-14 08:01:00] Bo: Two https://x.example!"],
  ],
  [
    "Slack",
    [
      { type: "message", text: "One", user: "U1", ts: `${late}.000100`, user_profile: { real_name: "Ann" } },
      { type: "message", text: "Two", user: "U2", ts: `${early}.000200`, user_profile: { real_name: "Bo" } },
      { type: "message", text: "Three", user: "U1", ts: `${early + 60}.000100` },
    ],
    ["[2026-03-12 23:58:00] Ann: One", "[2026-03-14 08:01:00] Bo: Two", "[2026-03-14 08:02:00] Ann: Three"],
  ],
  [
    "Discord",
    {
      messages: [
        { timestamp: "2026-03-12T23:58:00+00:00", content: "One", author: { id: "9", name: "a9", nickname: "Ann" } },
        { timestamp: "2026-03-14T08:01:00+00:00", content: "Two", author: { id: "8", name: "Bo" } },
      ],
    },
    ["[2026-03-12 23:58:00] Ann: One", "[2026-03-14 08:01:00] Bo: Two"],
  ],
])("the JSON of %s has its speakers, and a chat of several days its dates [OPS-04]", async (_, json, lines) => {
  expect((await meetings(JSON.stringify(json), "c.json"))[0]?.transcript).toEqual(lines);
});

test("a meeting in JSON without a date begins with the first turn that has one [OPS-04]", async () => {
  const turns = ["2026-03-12T23:58:00Z", "2026-03-13T00:01:00Z"].map((timestamp) => ({
    timestamp,
    text: "One",
    speaker: "Ann",
  }));
  expect(await meetings(JSON.stringify(turns), "c.json")).toMatchObject([
    { session: { start: "2026-03-12T23:58:00.000Z" }, transcript: ["[00:00:00] Ann: One", "[00:03:00] Ann: One"] },
  ]);
});

test("a duration is in seconds if somebody speaks for about as many [OPS-04]", async () => {
  const said = (time: number): unknown => ({ speaker: "Ada", text: "Hello.", start: time, end: time + 5 });
  const meeting = { title: "Call", date: "2026-03-02T09:00:00Z", duration: 300, transcript: [said(2.5), said(280.5)] };
  expect((await meetings(JSON.stringify(meeting), "c.json"))[0]?.session).toMatchObject({
    end: "2026-03-02T09:05:00.000Z",
  });
});

test("a page of Teams that is copied has a name, a time and what is said on lines of their own [OPS-04]", async () => {
  const turns = [
    ["Ann Lee", "0 minutes 3 seconds", "0:03", "Hello there."],
    ["Bo Day", "1 minute 9 seconds", "1:09", "In 2 minutes 5 seconds"],
    ["Cy Fox", "1 hour 1 minute 2 seconds", "1:01:02", "Fine."],
    ["Ann Lee", "1 hour 2 minutes 2 seconds", "1:02:02", "Bye."],
  ] as const;
  const lines = [
    "[00:00:03] Ann Lee: Hello there.",
    "[00:01:09] Bo Day: In 2 minutes 5 seconds",
    "[01:01:02] Cy Fox: Fine.",
    "[01:02:02] Ann Lee: Bye.",
  ];
  const forms = [
    turns.map(([name, spelled, time, said]) => `${name}\n${spelled}${time}\n${name} ${spelled}\n${said}\n`),
    turns.map(([name, spelled, time, said]) => `${name}\n${spelled}\n${time}\n${name} ${spelled}\n${said}\n`),
    turns.map(([name, , time, said]) => `${name}\n\n${time}\n\n${said}\n\n`),
  ];
  for (const form of forms) expect((await meetings(form.join(""), "call.txt"))[0]?.transcript).toEqual(lines);
});

test("the date above a transcript of Teams, saved from Word as text, is nobody's name [OPS-04]", async () => {
  const text =
    "Weekly-Meeting Recording\nMarch 2, 2026, 9:00AM\n30m 5s\n\nAda King started transcription\n\nAda King   0:03\nHello.\n\nBo Lee   0:07\nHi.\n\nAda King   0:12\nBye.\n";
  const [meeting] = await meetings(text, "Weekly.txt");
  expect(meeting?.transcript).toEqual([
    "Weekly-Meeting Recording March 2, 2026, 9:00AM 30m 5s Ada King started transcription",
    "[00:00:03] Ada King: Hello.",
    "[00:00:07] Bo Lee: Hi.",
    "[00:00:12] Ada King: Bye.",
  ]);
});

test("a text that names no speaker is the transcript as it is [OPS-04]", async () => {
  const program = ["Opening Remarks", "9:00", "In the hall.", "Keynote Speech", "9:30", "In the garden."];
  expect((await meetings(program.join("\n"), "a.txt"))[0]?.transcript).toEqual(program);
  const [meeting] = await meetings("Only a text.\n\nIn two paragraphs.\n", "memo.txt");
  expect(meeting).toEqual({
    session: { title: "memo", source: "recording" },
    transcript: ["Only a text.", "", "In two paragraphs."],
    notes: {},
  });
});

test("the JSON of Fireflies has title, times, link, sentences, summary and action items [OPS-04]", async () => {
  const transcript = {
    id: "ff1",
    title: "Kickoff",
    date: Date.parse("2026-03-02T09:00:00Z"),
    duration: 30.5,
    meeting_link: "https://meet.example.com/x",
    sentences: [
      { speaker_name: "Ada", text: "Hello.", start_time: "0.5", end_time: "1" },
      { speaker_name: "Ada", text: "Again.", start_time: 2, end_time: 3 },
      { speaker_name: null, text: "…", start_time: 4, end_time: 5 },
    ],
    summary: { overview: "A start.", action_items: "**Ada**\nCall Bo" },
  };
  const expected = {
    session: {
      title: "Kickoff",
      source: "fireflies",
      conferenceUrl: "https://meet.example.com/x",
      start: "2026-03-02T09:00:00.000Z",
      end: "2026-03-02T09:30:30.000Z",
    },
    transcript: ["[00:00:00] Ada: Hello. Again.", "[00:00:04] …"],
    notes: { Summary: "A start.", "Action items": "**Ada**\nCall Bo" },
  };
  for (const json of [{ data: { transcript } }, { data: { transcripts: [transcript] } }, transcript, [transcript]])
    expect(await meetings(JSON.stringify(json, null, 1), "f.json")).toEqual([expected]);
  const sentences = [{ sentence: "Hello.", startTime: "00:01", endTime: "00:02", speaker_name: "Ada" }];
  expect(await meetings(JSON.stringify(sentences), "f.json")).toEqual([
    { session: { title: "f", source: "fireflies" }, transcript: ["[00:00:01] Ada: Hello."], notes: {} },
  ]);
});

test("a page of meetings of Fathom's API is several sessions, each with its times, summary and action items [OPS-04]", async () => {
  const meeting = (id: number, said: string): Record<string, unknown> => ({
    title: `Review ${id}`,
    recording_id: id,
    created_at: "2026-03-02T11:00:00Z",
    recording_start_time: "2026-03-02T09:01:12Z",
    recording_end_time: "2026-03-02T09:30:00Z",
    transcript: [{ speaker: { display_name: "Ada King" }, text: said, timestamp: "00:05:32" }],
    default_summary: { template_name: "general", markdown_formatted: "## Summary\nAll well." },
    action_items: [{ description: "Send the plan", completed: false }],
  });
  const page = { limit: 2, next_cursor: null, items: [meeting(1, "Hello."), meeting(2, "Again.")] };
  const expected = (id: number, said: string): unknown => ({
    session: {
      title: `Review ${id}`,
      source: "recording",
      start: "2026-03-02T09:01:12.000Z",
      end: "2026-03-02T09:30:00.000Z",
    },
    transcript: [`[00:05:32] Ada King: ${said}`],
    notes: { Summary: "## Summary\nAll well.", "Action items": "- Send the plan" },
  });
  expect(await meetings(JSON.stringify(page), "f.json")).toEqual([expected(1, "Hello."), expected(2, "Again.")]);
});

test("names in camel case, times of the calendar in milliseconds, and a duration in seconds are read [OPS-04]", async () => {
  const circleback = {
    id: 7,
    name: "Weekly",
    createdAt: "2026-03-02T09:00:00Z",
    duration: 1800.5,
    notes: "All well.",
    actionItems: [{ title: "Send the plan", description: "To Bo." }],
    transcript: [{ speaker: "Ada King", text: "Hello.", timestamp: 1.2 }],
  };
  expect(await meetings(JSON.stringify(circleback), "c.json")).toEqual([
    {
      session: {
        title: "Weekly",
        source: "recording",
        start: "2026-03-02T09:00:00.000Z",
        end: "2026-03-02T09:30:00.500Z",
      },
      transcript: ["[00:00:01] Ada King: Hello."],
      notes: { "Action items": "- Send the plan", Notes: "All well." },
    },
  ]);
  const start = Date.parse("2026-03-02T09:00:00Z");
  const read = {
    title: "Weekly",
    start_time_ms: start,
    transcript: {
      speaker_blocks: [
        { start_time: String(start), speaker: { name: "Ada King" }, words: "Hello." },
        { start_time: String(start + 6_000), speaker: { name: "Bo" }, words: "Hi." },
      ],
    },
  };
  expect(await meetings(JSON.stringify(read), "r.json")).toEqual([
    {
      session: { title: "Weekly", source: "recording", start: "2026-03-02T09:00:00.000Z" },
      transcript: ["[00:00:00] Ada King: Hello.", "[00:00:06] Bo: Hi."],
      notes: {},
    },
  ]);
});

test("the JSON of speech recognition has its speakers and times [OPS-04]", async () => {
  const words = ["Hello there.", "Hi Ada, good to see you."] as const;
  const whisper = {
    text: "…",
    segments: words.map((text, at) => ({ id: at, start: at * 2, end: at * 2 + 2, text: ` ${text}` })),
  };
  const whisperX = { segments: whisper.segments.map((one, at) => ({ ...one, speaker: `SPEAKER_0${at}` })) };
  const amazon = {
    jobName: "j",
    results: {
      transcripts: [{ transcript: "…" }],
      audio_segments: words.map((transcript, at) => ({
        transcript,
        start_time: `${at * 2}.0`,
        end_time: `${at * 2 + 2}.0`,
        speaker_label: `spk_${at}`,
      })),
    },
  };
  const deepgram = {
    metadata: { duration: 4 },
    results: {
      channels: [],
      utterances: words.map((transcript, at) => ({ start: at * 2, end: at * 2 + 2, transcript, speaker: at })),
    },
  };
  const assembly = {
    id: "a1",
    utterances: words.map((text, at) => ({ text, start: at * 2_000, end: at * 2_000 + 2_000, speaker: "AB"[at] })),
  };
  for (const [json, speakers] of [
    [whisper, undefined],
    [whisperX, ["SPEAKER_00", "SPEAKER_01"]],
    [amazon, ["spk_0", "spk_1"]],
    [deepgram, ["Speaker 0", "Speaker 1"]],
    [assembly, ["Speaker A", "Speaker B"]],
  ] as const)
    expect(await meetings(JSON.stringify(json), "Kickoff.json")).toEqual([
      {
        session: { title: "Kickoff", source: "recording" },
        transcript:
          speakers === undefined
            ? [`[00:00:00] ${words.join(" ")}`]
            : words.map((text, at) => `[00:00:0${at * 2}] ${speakers[at] ?? ""}: ${text}`),
        notes: {},
      },
    ]);
});

test("words, sentences and turns of JSON are found whatever their members are called, with their speakers [OPS-04]", async () => {
  const words = ["Hello", "there", ".", "Hi", "Ada", "."] as const;
  const isMark = (word: string): boolean => word === ".";
  const content = (word: string) => [{ content: word }, { content: "other" }];
  const items = words.map((word, at) => ({
    ...(isMark(word) ? { type: "punctuation" } : { start_time: `${at}.5`, type: "pronunciation" }),
    alternatives: content(word),
  }));
  const labels = [0, 3].map((at) => ({ start_time: `${at}.5`, speaker_label: `spk_${at / 3}`, items: [] }));
  const channels = [items.slice(0, 3), items.slice(3)].map((some, at) => ({ channel_label: `ch_${at}`, items: some }));
  const transcripts = [{ transcript: "Hello there. Hi Ada." }];
  const google = (at: number, word: string) => ({ startTime: `${at}.500s`, word });
  const tagged = ["Hello", "there.", "Hi", "Ada."].map((word, at) => ({
    ...google(at < 2 ? at : at + 1, word),
    speakerTag: at < 2 ? 1 : 2,
  }));
  const timestamps = words.map((word, at) => [word, at + 0.5, at + 0.9]);
  const elements = (from: number) =>
    words.slice(from, from + 3).map((value, at) => ({ value, ...(isMark(value) ? {} : { ts: from + at + 0.5 }) }));
  const people = [
    { id: 7, name: "Ann" },
    { id: 8, name: "Bo" },
  ];
  const tokens = ["Hel", "lo", " there", ".", " Hi", " A", "da", "."];
  const turns = ["Hello there.", "Hi Ada."].map((text, at) => ({ text, start: at * 3 + 0.5 }));
  for (const [json, one, other] of [
    [{ results: { transcripts, items } }],
    [{ results: { transcripts, speaker_labels: { segments: labels }, items } }, "spk_0", "spk_1"],
    [{ results: { transcripts, channel_labels: { channels }, items } }, "ch_0", "ch_1"],
    [
      { results: [{ alternatives: [{ transcript: "Hello there. Hi Ada." }] }, { alternatives: [{ words: tagged }] }] },
      "Speaker 1",
      "Speaker 2",
    ],
    [{ results: [{ alternatives: [{ transcript: "Hello there. Hi Ada. ", timestamps }, { transcript: "Low" }] }] }],
    [
      {
        speakers: people,
        monologues: [
          { speaker: 7, elements: elements(0) },
          { speaker: 8, elements: elements(3) },
        ],
      },
      "Ann",
      "Bo",
    ],
    [
      { tokens: tokens.map((text, at) => ({ text, start_ms: at * 700 + 500, speaker: at < 4 ? "1" : "2" })) },
      "Speaker 1",
      "Speaker 2",
    ],
    [
      {
        recognizedPhrases: turns.map(({ text, start }, at) => ({
          offset: `PT${start}S`,
          speaker: at,
          nBest: [{ display: text }],
        })),
      },
      "Speaker 0",
      "Speaker 1",
    ],
    [{ chunks: turns.map(({ text, start }) => ({ text: ` ${text}`, timestamp: [start, start + 1] })) }],
    [
      turns.map(({ text, start }, at) => ({
        participant: people[at],
        words: text.split(" ").map((word) => ({ text: word, start_timestamp: { relative: start } })),
      })),
      "Ann",
      "Bo",
    ],
    [
      {
        result: turns.map(({ text }, at) => ({
          speaker: people[at]?.name,
          body: text,
          startTime: `2026-03-02T09:00:0${at * 3}Z`,
        })),
      },
      "Ann",
      "Bo",
    ],
  ] as const) {
    const lines = one === undefined ? ["Hello there. Hi Ada."] : [`${one}: Hello there.`, `${other}: Hi Ada.`];
    const [meeting] = await meetings(JSON.stringify(json), "Kickoff.json");
    const dated = "result" in json ? { start: "2026-03-02T09:00:00.000Z" } : {};
    expect(meeting?.session).toEqual({ title: "Kickoff", source: "recording", ...dated });
    expect(meeting?.transcript?.map((line) => line.replace(/^\[00:00:0\d\] /, ""))).toEqual(lines);
    expect(meeting?.transcript?.at(-1)?.slice(0, 10)).toMatch(one === undefined ? "[00:00:00]" : /^\[00:00:0[23]\]$/);
  }
  const japanese = ["会議", "です", "。"].map((word, at) => ({ word, start: at }));
  expect((await meetings(JSON.stringify({ words: japanese }), "x.json"))[0]?.transcript).toEqual([
    "[00:00:00] 会議です。",
  ]);
  const part = { blocks: [{ text: "A long text without times.", data: { words: [{ word: "A", start: 0 }] } }] };
  expect((await meetings(JSON.stringify(part), "x.json"))[0]?.problem).toContain("has nothing that is known");
});

test("captions that roll up have each line once, unless it is said again [OPS-04]", async () => {
  const cue = (from: number, to: number, ...lines: string[]) =>
    `00:00:0${from}.000 --> 00:00:0${to}.000 align:start\n${lines.join("\n")}\n\n`;
  const file = [
    "WEBVTT\nKind: captions\n\n",
    cue(0, 1, " ", "hello<00:00:00.500><c> there</c>"),
    cue(1, 2, "hello there", " "),
    cue(2, 3, "hello there", "good<00:00:02.500><c> day</c>"),
    cue(3, 4, "good day", " "),
    cue(4, 5, "good day", "hello<00:00:04.500><c> there</c>"),
  ].join("");
  expect((await meetings(file, "x.vtt"))[0]?.transcript).toEqual(["[00:00:00] hello there good day hello there"]);
  const plain = `WEBVTT\n\n${cue(0, 1, "Yes.")}${cue(1, 2, "Yes.")}`;
  expect((await meetings(plain, "x.vtt"))[0]?.transcript).toEqual(["[00:00:00] Yes. Yes."]);
});

test("the cache and the exports of Granola have notes, summary and transcript; deleted documents are left out [OPS-04]", async () => {
  const document = { id: "g1", title: "1:1", created_at: "2026-03-02T09:00:00.000Z", notes_markdown: "- mine" };
  const state = {
    documents: { g1: document, g2: { ...document, id: "g2", deleted_at: "2026-03-03T00:00:00Z" } },
    transcripts: {
      g1: [
        { text: "Hello", source: "microphone", start_timestamp: "2026-03-02T09:00:05.000Z" },
        { text: "Hi", source: "system", start_timestamp: "2026-03-02T09:00:08.000Z" },
      ],
    },
  };
  const expected = {
    session: { title: "1:1", source: "granola", start: "2026-03-02T09:00:00.000Z" },
    transcript: ["[00:00:00] Me: Hello", "[00:00:03] Them: Hi"],
    notes: { Notes: "- mine" },
  };
  for (const json of [{ cache: JSON.stringify({ state }) }, { cache: { state } }, { state }])
    expect(await meetings(JSON.stringify(json), "g.json")).toEqual([expected]);
  const exported = {
    ...document,
    start_time: "2026-03-02T10:00:00Z",
    end_time: "2026-03-02T10:30:00Z",
    summary: "S",
    transcript: "T",
  };
  const items = [{ text: "Call Bo" }, "Rest"];
  expect(await meetings(JSON.stringify({ meetings: [{ ...exported, action_items: items }] }), "g.json")).toEqual([
    {
      session: { title: "1:1", source: "granola", start: "2026-03-02T10:00:00.000Z", end: "2026-03-02T10:30:00.000Z" },
      transcript: ["T"],
      notes: { Summary: "S", "Action items": "- Call Bo\n- Rest", Notes: "- mine" },
    },
  ]);
});

test("a table of turns has their speakers and times [OPS-04]", async () => {
  const lines = ["[00:00:15] Ann Lee: Hello.", "[00:01:00] Bo: Hi, you."];
  for (const text of [
    'Start,End,Speaker,Text\n00:00:15,00:00:17,Ann Lee,Hello.\n00:01:00,00:01:02,Bo,"Hi, you."\n',
    "name;timestamp;message\r\nAnn Lee;0:15;Hello.\r\nBo;1:00;Hi, you.\r\n",
    "start_time\tend_time\tspeaker\ttranscript\n15.0\t17.5\tAnn Lee\tHello.\n60.0\t61.5\tBo\tHi, you.\n",
  ])
    expect((await meetings(text, "call.csv"))[0]?.transcript).toEqual(lines);
});

test("JSON without a meeting, and bytes that cannot be read, are rejected; any text never fails [OPS-04]", async () => {
  for (const text of ["{}", "[1]", '{"contact":{}}', '{"sentences":[["0",6,9.5],["1",6,17.3]]}'])
    expect((await meetings(text, "x.json"))[0]?.problem).toContain("has nothing that is known");
  const card = ["vcard", [["version", {}, "text", "4.0"]]];
  for (const json of [card, [card, card], ["vcalendar", [], []]])
    expect((await meetings(JSON.stringify(json), "x.json"))[0]?.problem).toMatch(/ in JSON, .* export (?:vCard|iCal)/);
  expect((await meetings('{"segments":\n[', "x.json"))[0]?.problem).toContain("is not JSON: ");
  const piece = fc.constantFrom(
    "WEBVTT",
    "\n",
    "\n\n",
    "00:01.000 --> 00:02.000",
    "1",
    "<v A>",
    "Ada: ",
    "Ada  0:15",
    "x",
    "{",
    '"',
    "[",
    "<",
    "&amp;",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece), async (pieces) => {
      const found = await meetings(pieces.join(""), "x.vtt");
      expect(found.length).toBeLessThanOrEqual(1);
    }),
  );
});
