// Entry point for buf: runs the plugin on standard input and output.
import { runNodeJs } from "@bufbuild/protoplugin";
import { plugin } from "./plugin.ts";

runNodeJs(plugin);
