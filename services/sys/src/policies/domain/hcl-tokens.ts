/**
 * Tokens of HCL, the language of policies: identifiers, quoted strings with escapes, heredocs, numbers,
 * punctuation. Comments (`#`, `//`, `/* *\/`) are dropped.
 */
import { KeelsonError } from '@keelson/errors';

export interface HclToken {
  readonly kind: 'identifier' | 'string' | 'number' | 'punctuation' | 'end';
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
}

const SPACE_OR_COMMENT = /(?:\s+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const IDENTIFIER = /[A-Za-z_][\w.-]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y;
const HEREDOC = /<<(-?)([A-Za-z_]\w*)\r?\n/y;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([\s\S]))/g;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  '/': '/',
  '\\': '\\',
};

const fail = (reason: string, line: number): never => {
  throw new KeelsonError('sys.policy_unparsable', { reason: `line ${line}: ${reason}` });
};

const unescape = (quoted: string, line: number): string =>
  quoted
    .slice(1, -1)
    .replaceAll(ESCAPE, (whole, short?: string, long?: string, byte?: string, single?: string) => {
      const hex = short ?? long ?? byte;
      if (hex !== undefined) {
        const point = Number.parseInt(hex, 16);
        return point > 0x10ffff
          ? fail(`invalid escape ${whole}`, line)
          : String.fromCodePoint(point);
      }
      return SIMPLE_ESCAPES[single ?? ''] ?? fail(`invalid escape ${whole}`, line);
    });

/** Removes the smallest indentation of all lines, as `<<-` requires. */
const stripIndentation = (lines: readonly string[]): string[] => {
  const indent = lines
    .filter((line) => line.trim() !== '')
    .reduce((least, line) => Math.min(least, line.search(/\S/)), Number.POSITIVE_INFINITY);
  return Number.isFinite(indent) ? lines.map((line) => line.slice(indent)) : [...lines];
};

/** The lines of a heredoc and the end of its marker line; undefined when the marker is missing. */
const readHeredoc = (
  text: string,
  start: number,
  marker: string,
): { readonly lines: readonly string[]; readonly end: number } | undefined => {
  const lines: string[] = [];
  for (let at = start; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end);
    if (line.trim() === marker) return { lines, end };
    lines.push(line);
    at = end + 1;
  }
  return undefined;
};

/** @throws KeelsonError `sys.policy_unparsable` */
export function* hclTokens(text: string): Generator<HclToken, void> {
  let at = 0;
  let line = 1;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const countLines = (part: string): void => {
    for (const character of part) if (character === '\n') line += 1;
  };
  for (;;) {
    const skipped = take(SPACE_OR_COMMENT);
    if (skipped !== null) countLines(skipped[0]);
    if (at >= text.length) break;
    const startLine = line;
    const identifier = take(IDENTIFIER);
    if (identifier !== null) {
      yield { kind: 'identifier', text: identifier[0], line };
      continue;
    }
    const string = take(STRING);
    if (string !== null) {
      yield { kind: 'string', text: unescape(string[0], line), line };
      continue;
    }
    const heredoc = take(HEREDOC);
    if (heredoc !== null) {
      line += 1;
      const [, dash, marker = ''] = heredoc;
      const body = readHeredoc(text, at, marker) ?? fail('heredoc not terminated', startLine);
      at = body.end;
      line += body.lines.length;
      const lines = dash === '' ? body.lines : stripIndentation(body.lines);
      yield { kind: 'string', text: lines.map((one) => `${one}\n`).join(''), line: startLine };
      continue;
    }
    const number = take(NUMBER);
    if (number !== null) {
      yield { kind: 'number', text: number[0], line };
      continue;
    }
    const character = text[at] ?? '';
    if (!'{}[]=,:'.includes(character)) fail(`unexpected character "${character}"`, line);
    at += 1;
    yield { kind: 'punctuation', text: character, line };
  }
  yield { kind: 'end', text: 'end of text', line };
}
