// `records completion`: prints the completion script of a shell, derived from the commands and their options.
import type { Command } from "commander";
import { Argument } from "commander";
import type { Context } from "./context.ts";

const help = `
The scripts complete \`records\`. Define it first, in the folder of the checkout:
  alias records="node $PWD/bin/records.js"

  bash  save the script as ~/.local/share/bash-completion/completions/records,
        and create the folder if there is none
  zsh   save it as _records in a folder of $fpath
  fish  save it as ~/.config/fish/completions/records.fish`;

/** Adds the command. */
export function addCompletion(program: Command, context: Context): void {
  program
    .command("completion")
    .description("print the completion script of a shell")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(Object.keys(scripts)))
    .addHelpText("after", help)
    .action((shell: keyof typeof scripts) => {
      const script = scripts[shell](wordsBelow(program, ""));
      context.output.result({ shell, script }, script.trimEnd().split("\n"));
    });
}

/** What can follow the words of a command. */
type Row = readonly [path: string, words: string];

function wordsBelow(command: Command, path: string): Row[] {
  const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
  const names = command.commands.map((one) => one.name());
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const below = command.commands.flatMap((one) => wordsBelow(one, `${path} ${one.name()}`));
  return [[path, [...names, ...choices, ...options, "--help"].join(" ")], ...below];
}

/** Bash and zsh share the function that returns the words. */
function wordsFunction(rows: readonly Row[]): string {
  const cases = rows.map(([path, words]) => `    '${path}') echo '${words}' ;;`);
  return `_records_words() {\n  case "$1" in\n${cases.join("\n")}\n  esac\n}\n`;
}

const scripts = {
  bash: (rows: readonly Row[]) => `${wordsFunction(rows)}_records() {
  local at='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ -z "$(_records_words "$at $word")" ] || at="$at $word"
  done
  COMPREPLY=($(compgen -W "$(_records_words "$at")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _records records
`,
  zsh: (rows: readonly Row[]) => `#compdef records
${wordsFunction(rows)}_records() {
  local at='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [ -z "$(_records_words "$at $word")" ] || at="$at $word"
  done
  compadd -- \${=$(_records_words "$at")}
  _files
}
# zsh runs the file in place of the function when it first completes.
if [ "$funcstack[1]" = _records ]; then _records "$@"; else compdef _records records; fi
`,
  fish: (rows: readonly Row[]) => `function __records_words
  switch "$argv[1]"
${rows.map(([path, words]) => `    case '${path}'\n      string split -- ' ' '${words}'`).join("\n")}
  end
end
function __records_here
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next "$at $word"
    test -z "$(__records_words $next)"; or set at $next
  end
  __records_words "$at"
end
complete -c records -a '(__records_here)'
`,
} as const;
