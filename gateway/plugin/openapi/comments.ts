// Turns the comments of protos into the texts of the API reference.
import type { AnyDesc, DescFile } from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

/** A comment: its first paragraph without the full stop, and the rest. */
export interface CommentText {
  readonly summary: string;
  readonly description: string | undefined;
}

/** Splits the comment of a descriptor after its first paragraph. */
export function commentText(desc: Exclude<AnyDesc, DescFile>): CommentText {
  const [first = "", ...rest] = paragraphs(desc);
  return { summary: first.replace(/\.$/, ""), description: rest.length === 0 ? undefined : rest.join("\n\n") };
}

/** Returns the whole comment, with a blank line between paragraphs. */
export function description(desc: Exclude<AnyDesc, DescFile>): string {
  return paragraphs(desc).join("\n\n");
}

function paragraphs(desc: Exclude<AnyDesc, DescFile>): string[] {
  const text = getComments(desc).leading ?? "";
  return text
    .split(/\n[ \t]*\n/)
    .map(inOneLine)
    .filter((paragraph) => paragraph !== "");
}

function inOneLine(paragraph: string): string {
  return paragraph
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}
