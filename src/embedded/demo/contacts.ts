// Generates the contacts of the demo.
import { timestamp } from "../../db/message.ts";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { anchors } from "./anchors.ts";
import type { Calendar } from "./calendar.ts";
import { later, someTime } from "./calendar.ts";
import type { Person } from "./people.ts";
import { between, chance, createRandom, deck, pick, type Random } from "./random.ts";
import type { Story } from "./story.ts";
import { fill } from "./template.ts";
import texts from "./texts/contact-sentences.json" with { type: "json" };

/** Returns a person as a contact. */
export function contactItem(person: Person, story: Story, externalId: string, calendar: Calendar): ContactItem {
  const random = createRandom(`${person.id}/contact`);
  const { id, fullName, inferredName, email, phone, known } = person;
  const created = someTime(random, calendar, person.since);
  const archived = person.archived === undefined ? undefined : someTime(random, calendar, person.archived);
  // Ann Lee is the contact changed most recently, so searches find her first.
  const drawn = pick(random, [
    person.since + 1,
    between(random, person.since + 1, -2),
    between(random, Math.max(person.since + 1, -60), -2),
  ]);
  const changed = fullName === anchors.annLee ? -1 : drawn;
  const notes = known?.freeText ?? drawFreeText(person, story, random);
  const memory = known?.memory ?? drawMemory(person, story, random);
  return {
    $typeName: "records.ingest.v1.ContactItem",
    id,
    externalId,
    ...(fullName === undefined ? {} : { fullName }),
    ...(inferredName === undefined ? {} : { inferredName }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone }),
    ...(notes === undefined ? {} : { notes }),
    ...(memory === undefined ? {} : { memory }),
    createdAt: timestamp(new Date(created)),
    updatedAt: timestamp(new Date(archived ?? later(random, calendar, someTime(random, calendar, changed), 1))),
    ...(archived === undefined ? {} : { archivedAt: timestamp(new Date(archived)) }),
  };
}

function drawFreeText(person: Person, story: Story, random: Random): string | undefined {
  const shares = { client: 0.75, lead: 0.35, partner: 0.45, friend: 0.2, imported: 0.03 };
  if (!chance(random, shares[person.bond])) return undefined;
  const text = deck(random, texts.freeTexts);
  return Array.from({ length: between(random, 1, 3) }, () => fill(text(), story.slotsAt(person.since), random)).join(
    "\n",
  );
}

function drawMemory({ bond }: Person, story: Story, random: Random): string | undefined {
  if (!chance(random, bond === "client" ? 0.85 : bond === "lead" ? 0.25 : 0.04)) return undefined;
  const slots = story.slotsAt(story.end);
  const detail = deck(random, texts.memoryDetails);
  const details = Array.from({ length: between(random, 3, 7) }, () => `- ${fill(detail(), slots, random)}`);
  return `${fill(pick(random, texts.memoryOpenings), slots, random)}\n\n${details.join("\n")}`;
}
