// The style sheet of the provider's pages, which each page includes.
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f4f5f7; --card: #ffffff; --text: #1b1f24; --quiet: #57606a; --line: #d5d9df; --field: #7b8490;
  --accent: #1f5fbf; --accent-text: #ffffff; --accent-over: #184c99;
  --wrong: #a40e26; --wrong-back: #fdf0f1; --banner: #fff4d6; --banner-text: #5c4400;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --card: #1d2125; --text: #e8eaed; --quiet: #a4acb6; --line: #363c43; --field: #79828d;
    --accent: #8ab4f8; --accent-text: #10233f; --accent-over: #aecbfa;
    --wrong: #ff9ba3; --wrong-back: #3a1e22; --banner: #3a3015; --banner-text: #f3dfa4;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
  background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
header { padding: .5rem 1rem; text-align: center; background: var(--banner); color: var(--banner-text); font-size: .875rem; }
main { width: 100%; max-width: 26rem; margin: 0 auto; padding: clamp(1.5rem, 10vh, 6rem) 1rem 2rem; }
.card { padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
@media (max-width: 26rem) { .card { padding: 1.5rem 1.25rem; } }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; }
p { margin: 0 0 1rem; }
h1 + p { color: var(--quiet); }
p:last-child { margin-bottom: 0; }
strong { font-weight: 600; color: var(--text); }
h1, p, dd { overflow-wrap: anywhere; }
form { margin: 1.5rem 0 0; }
label { display: block; margin: 0 0 .25rem; font-size: .875rem; font-weight: 600; }
input {
  width: 100%; margin: 0 0 1rem; padding: .625rem .75rem; font: inherit;
  color: var(--text); background: var(--card); border: 1px solid var(--field); border-radius: .5rem;
}
input[aria-invalid] { border-color: var(--wrong); }
button {
  width: 100%; padding: .6875rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  border: 1px solid transparent; border-radius: .5rem; background: var(--accent); color: var(--accent-text);
}
button:hover { background: var(--accent-over); }
button.second { background: transparent; color: var(--text); border-color: var(--field); }
button.second:hover { background: var(--back); }
.people { display: grid; gap: .5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.people button { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 .75rem; padding: .5rem .75rem; line-height: 1.3; }
.people .small { margin: 0; font-weight: 400; }
.choice { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.wrong { padding: .625rem .75rem; border-left: 3px solid var(--wrong); border-radius: .25rem; background: var(--wrong-back); color: var(--wrong); }
.small { margin: 1.25rem 0 0; font-size: .8125rem; color: var(--quiet); }
dl { margin: 1.25rem 0 0; }
dt { font-size: .8125rem; color: var(--quiet); }
dd { margin: 0 0 .75rem; }
dd:last-child { margin-bottom: 0; }
code { font: .875em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
`;
