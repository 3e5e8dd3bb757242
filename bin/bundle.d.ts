// What `bundle.js` gives to the tests and the bench.
export function bundled(source: string): Promise<string>;
export function run(source: string): Promise<void>;
