/** Uploads the state of an apply to the control plane: at intervals during the apply and at its end. */
import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ControlPlane, type Phase, upload } from './control-plane.ts';
import { readRegular } from './regular-file.ts';

export const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

/** Numbers in a state may exceed the precision of JSON.parse, so its text is never re-encoded. */
const SERIAL = /^(\s*\{[\s\S]{0,400}?"serial":\s*)(\d+)/;
const LINEAGE = /^\s*\{[\s\S]{0,600}?"lineage":\s*"([^"]*)"/;

export interface StateText {
  readonly text: string;
  readonly serial: number;
  readonly lineage: string;
}

/** undefined when the text is not a complete state, as while it is being written. */
export const parseStateText = (text: string): StateText | undefined => {
  const serial = SERIAL.exec(text)?.[2];
  const lineage = LINEAGE.exec(text)?.[1];
  if (serial === undefined || lineage === undefined || !text.trimEnd().endsWith('}')) {
    return undefined;
  }
  return { text, serial: Number(serial), lineage };
};

export const withSerial = ({ text }: StateText, serial: number): string =>
  text.replace(SERIAL, (_, before: string) => `${before}${serial}`);

/** Delay from a change of the state to its upload, so that changes in between share one upload. */
const SETTLE_MS = 5000;
/** Polling interval of the state when its folder cannot be watched. */
const LOOK_MS = 15_000;

export class StateKeeper {
  readonly #controlPlane: ControlPlane;
  readonly #phase: Phase;
  readonly #stateFile: string;
  readonly #root: string;
  /** Digest of the file when it was last uploaded or downloaded. */
  #knownMd5: string | undefined;
  #knownSerial = -1;
  #hasIntermediate = false;
  #watcher: FSWatcher | undefined;
  #looking: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #snapshot: Promise<void> = Promise.resolve();

  constructor(controlPlane: ControlPlane, phase: Phase, root: string, stateFile: string) {
    this.#controlPlane = controlPlane;
    this.#phase = phase;
    this.#root = root;
    this.#stateFile = stateFile;
  }

  /** Digest of the state at the start of the phase; null if there is none. */
  async start(): Promise<string | null> {
    const bytes = await readRegular(this.#stateFile);
    if (bytes === undefined) return null;
    this.#knownMd5 = md5Of(bytes);
    this.#knownSerial = parseStateText(bytes.toString())?.serial ?? -1;
    return this.#knownMd5;
  }

  /** From now on uploads the tool's state on each change, until `store`. */
  watch(): void {
    const name = basename(this.#stateFile);
    try {
      this.#watcher = watch(dirname(this.#stateFile), (_, changed) => {
        if (changed === name) this.#storeSoon();
      });
      this.#watcher.on('error', () => this.#lookNowAndThen());
    } catch {
      // The system limits the number of watched folders.
      this.#lookNowAndThen();
    }
  }

  #lookNowAndThen(): void {
    this.#looking ??= setInterval(() => this.#storeSoon(), LOOK_MS);
  }

  #storeSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      // The next upload, or the final one, replaces a failed one.
      this.#snapshot = this.#snapshot.then(() => this.#carry(true)).catch(() => undefined);
    }, SETTLE_MS);
  }

  /**
   * Stores the final state.
   * @param showJson returns the current state in its external form
   */
  async store(showJson: () => Promise<string | undefined>): Promise<void> {
    this.stop();
    await this.#snapshot;
    await this.#carry(false, showJson);
  }

  stop(): void {
    this.#watcher?.close();
    clearInterval(this.#looking);
    clearTimeout(this.#settling);
  }

  async #carry(
    isIntermediate: boolean,
    showJson?: () => Promise<string | undefined>,
  ): Promise<void> {
    const bytes = await readRegular(this.#stateFile);
    const state = bytes && parseStateText(bytes.toString());
    // It may be read while the tool is writing it.
    if (bytes === undefined || (state === undefined && isIntermediate)) return;
    if (state === undefined) throw new Error('the tool left a state that cannot be read');
    const fileMd5 = md5Of(bytes);
    const isKnown = fileMd5 === this.#knownMd5;
    // The last intermediate state is stored once more as the final one.
    if (isKnown && (isIntermediate || !this.#hasIntermediate)) return;
    // The tool counts an apply as one step, but each stored state needs its own serial.
    const serial = Math.max(state.serial, this.#knownSerial + 1);
    const file = join(this.#root, 'upload.tfstate');
    const text = withSerial(state, serial);
    await writeFile(file, text, { mode: 0o600 });
    const urls = await this.#controlPlane.announceState(this.#phase, {
      serial,
      md5: md5Of(Buffer.from(text)),
      lineage: state.lineage,
      isIntermediate,
    });
    const json = await showJson?.();
    if (json !== undefined) {
      const jsonFile = join(this.#root, 'state.json');
      await writeFile(jsonFile, json, { mode: 0o600 });
      await upload(urls.jsonState, jsonFile);
    }
    await upload(urls.state, file);
    this.#knownMd5 = fileMd5;
    this.#knownSerial = serial;
    this.#hasIntermediate = isIntermediate;
  }
}
