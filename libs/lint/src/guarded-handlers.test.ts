import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { guardedHandlers, type SyntaxNode } from './guarded-handlers.ts';

/** The events of bare handlers in a program. */
const findBare = (source: string): readonly string[] => {
  const found: string[] = [];
  const rule = guardedHandlers.create({
    report: ({ message }) => found.push(/"(.+)"/.exec(message)?.[1] ?? ''),
  });
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as SyntaxNode;
    if (node.type === 'CallExpression') rule.CallExpression(node);
    if (node.type === 'VariableDeclarator') rule.VariableDeclarator(node);
    for (const child of Object.values(node)) walk(child);
  };
  walk(parseSync('sample.ts', source).program);
  rule['Program:exit']();
  return found;
};

test.for([
  ["server.on('connect', (request) => { new URL(request.url); })", 'connect'],
  ["this.#server.once('request', (request, response) => response.writeHead(200))", 'request'],
  ["createInterface({ input }).on('line', hear)", 'line'],
  ["stream.setEncoding('utf8').on('data', (text) => { total += text.trim(); })", 'data'],
  ["socket.on('readable', read).on('end', resolve)", 'readable'],
  ["stream.prependListener('end', () => { throw new Error('odd'); })", 'end'],
  ["stream.on('data', async () => { await work; })", 'data'],
  ['server.on(event, (socket) => { greet(socket); })', 'event'],
  ["stream.on('data', take); const take = (piece) => { parse(piece); };", 'data'],
  ['createServer((request, response) => { response.writeHead(200); })', 'request'],
])('%s is refused', ([source, event]) => {
  expect(findBare(String(source))).toEqual([event]);
});

test.for([
  "server.on('connect', guarded('sample/proxy', (request) => { new URL(request.url); }))",
  "socket.once('secureConnect', () => resolve(socket))",
  "response.on('end', resolve)",
  "socket.on('connect', () => { connected = true; })",
  "response.on('data', (chunk) => { if ((size += chunk.length) > LIMIT) reject(new Error('large')); else held.push(chunk); })",
  "socket.on('error', () => report(socket))",
  "process.on('SIGHUP', reload)",
  'for (const signal of SIGNALS) process.on(signal, () => stop())',
  "const take = guarded('sample/data', (piece) => parse(piece)); stream.on('data', take);",
  "stream.once('end', giveUp); const giveUp = () => resolve(undefined);",
  "createServer(guarded('sample/server', (request, response) => { response.writeHead(200); }))",
  'raw.on(event, listener)',
  "tree.on('GET', path, () => undefined)",
])('%s is accepted', (source) => {
  expect(findBare(source)).toEqual([]);
});
