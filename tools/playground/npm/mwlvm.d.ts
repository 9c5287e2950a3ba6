/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | {[name: string]: Json};

/** A place in a text; lines and columns count from 1, columns in characters. */
export interface Fix {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
}

/** One error or warning about a definition, as `mwlvm check --format json` prints it. */
export interface Diagnostic {
  /** "MWL0201" */
  code: string;
  /** "unknown-member" */
  name: string;
  severity: "error" | "warning" | "note";
  message: string;
  file: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  /** JSON pointer of the place. */
  pointer: string | null;
  label: string | null;
  labels: Json[];
  notes: string[];
  suggestion: string | null;
  /** Edits that repair it exactly; often none. */
  fix: Fix[];
}

/** What is wrong with another text than the definition. */
export interface Problem {
  in: "case" | "input" | "arguments";
  message: string;
  line: number;
  column: number;
}

export interface Checked {
  ok: boolean;
  diagnostics: Diagnostic[];
  problems: Problem[];
}

/** The end of a run. */
export type Result = Success | FailureResult;
export interface Success {
  type: "success";
  value: Json;
}
export interface FailureResult {
  /** "error", "timeout", "cancellation" or a type that the Flow raised. */
  type: string;
  code: string;
  message?: string;
  retryable?: boolean | null;
  details?: Json;
  previous?: FailureResult | null;
}

/** A definition: its text, or the object that the text would say. */
export type Definition = string | object;

export interface SubjectOptions {
  /** The name of the definition in messages. */
  name?: string;
  /** Scripted answers of providers, by URI or by Step. */
  answers?: object;
  /** Documents of providers. A provider without one accepts and says everything. */
  documents?: object[];
  /** `cancelAfter`, `reason`, `seed`, `fuel` and `memory`, as in a case of `mwlvm test`. */
  control?: object;
  /** A whole case instead of the three above: an object, or its text. */
  case?: string | object;
}

export interface CheckOptions extends SubjectOptions {
  input?: unknown;
  arguments?: unknown;
}

export interface AssembleOptions extends SubjectOptions {
  /** Leave out the definition and the positions. */
  strip?: boolean;
  /** The small form of the program. */
  pack?: boolean;
}

/** One call of a provider. */
export interface Call {
  with: any;
  input: any;
  step: string;
  flow: string;
  provider: string;
  /** The same each time a Retry makes the call again. */
  id: string;
  /** Aborted when the run does not wait for the call any more. */
  signal: AbortSignal;
}

/** Returns the value of the success, or throws: a Failure, or an error with a `code`. */
export type Provider = (call: Call) => unknown;

/** An event of the machine. Times are in nanoseconds since the start. */
export interface RunEvent {
  at: number;
  event: string;
  depth: number;
  flow?: string;
  step?: string;
  provider?: string;
  phase?: string;
  index?: number;
  runs?: number;
  line?: number;
  column?: number;
  until?: number;
  bound?: number;
  failed?: boolean;
  input?: Json;
  value?: Json;
  [name: string]: unknown;
}

export interface RunOptions extends SubjectOptions {
  input?: unknown;
  /** Arguments of the root Flow. */
  arguments?: unknown;
  /** Providers written in JavaScript, by URI; "*" is for every other one. `answers` come first. */
  providers?: {[uri: string]: Provider};
  /** Waits take no time: while nothing happens the clock skips to the next timer. */
  virtualTime?: boolean;
  /** Cancels the run. Its cleanup still runs. */
  signal?: AbortSignal;
  onEvent?: (event: RunEvent) => void;
  /** `execution.id`. */
  id?: string;
  seed?: number;
  /** Limits: work and bytes. */
  fuel?: number;
  memory?: number;
  /** Keep what report() needs. */
  record?: boolean;
  /** Work of one turn; 1 makes step() as fine as it can be. */
  slice?: number;
}

export interface State {
  state: "ready" | "waiting" | "done" | "aborted";
  /** Nanoseconds since the start. */
  now: number;
  /** When the next timer is due, or null. */
  due: number | null;
  where?: {flow: string; step: string; line: number; column: number; waiting: string; provider: string; [name: string]: unknown};
  vars?: {[name: string]: Json};
  /** Calls that wait for answer() or fail(). */
  calls: {number: number; provider: string; flow: string; step: string; id: string; with: Json; input: Json}[];
  /** Calls that had answers, but none that fits. */
  unexpected: {provider: string; flow: string; step: string; number: number; why: string; with: Json; input: Json}[];
  result?: Result;
  /** The limit that ended the run, or null. */
  why?: string | null;
  [name: string]: unknown;
}

/** A run that the caller makes go on. */
export class Run {
  private constructor();
  readonly state: State;
  readonly over: boolean;
  /** To the next thing that happens: a Step, a call, its answer, another attempt, a catch. */
  step(): State;
  go(until: "step" | "wait" | "timer" | "end", advance?: boolean, fuel?: number): State;
  answer(number: number, value: unknown): boolean;
  fail(number: number, failure: {code: string; message?: string; retryable?: boolean; details?: unknown}): boolean;
  cancel(reason?: string): State;
  /** To the end, with the providers of the options. */
  finish(): Promise<Result>;
  /** The graph with its data, of a run with `record`. */
  report(): {svg: string | null; data: any};
  /** Frees what the run holds. */
  dispose(): void;
}

/** An instance of the module. */
export class Mwlvm {
  constructor(module: WebAssembly.Module);
  readonly version: string;
  /** What this build does not have, in words. */
  readonly missing: string[];
  check(definition: Definition, options?: CheckOptions): Checked;
  /** Throws MwlError if the definition is rejected. */
  assemble(definition: Definition, options?: AssembleOptions): Uint8Array;
  /** Throws MwlError if the definition is rejected. */
  start(definition: Definition | Uint8Array, options?: RunOptions): Run;
  run(definition: Definition | Uint8Array, options?: RunOptions): Promise<Result>;
}

/** A definition was rejected, or a run could not go on. */
export class MwlError extends Error {
  readonly diagnostics: Diagnostic[];
  readonly problems: Problem[];
}

/** A failure that a provider throws. */
export class Failure extends Error {
  constructor(code: string, message?: string, members?: {type?: string; retryable?: boolean; details?: unknown; previous?: unknown});
  readonly code: string;
}

/** Loads the module: from the file beside this one, or from bytes, a Response or a WebAssembly.Module. */
export function load(source?: BufferSource | Response | WebAssembly.Module | Promise<BufferSource | Response | WebAssembly.Module>): Promise<Mwlvm>;

/** Checks a definition. */
export function check(definition: Definition, options?: CheckOptions): Promise<Checked>;
/** Assembles a definition: the bytes of a program (.mwlb). Rejects with MwlError. */
export function assemble(definition: Definition, options?: AssembleOptions): Promise<Uint8Array>;
/** Starts a run that the caller makes go on. */
export function start(definition: Definition | Uint8Array, options?: RunOptions): Promise<Run>;
/** Runs a definition or a program to its end. Resolves to its Result, also if that is a failure. */
export function run(definition: Definition | Uint8Array, options?: RunOptions): Promise<Result>;
