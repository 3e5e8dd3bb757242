// The program that buf runs: the plugin on standard input and standard output.
import { runNodeJs } from "@bufbuild/protoplugin";
import { plugin } from "./plugin.ts";

runNodeJs(plugin);
