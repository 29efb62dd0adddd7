/**
 * A git server that answers as no honest one does, each attempt seen from the workspace that follows it. The table is
 * *attempt → held by*: the problem that the workspace shows, or null where the answer does no harm. Each attempt runs
 * against the real worker, git and proxy; afterwards a polite repository is fetched, no worker has died unless its row
 * says so, and no folder or key of a fetch remains.
 */

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findFetchWorkers, WorkerFolders } from '../../../test/fetch-workers.ts';
import {
  answerFetch,
  commitContent,
  distance,
  entry,
  FLUSH,
  inPackets,
  objectId,
  packet,
  packOf,
  repeatingDelta,
  tagContent,
  treeContent,
} from '../../../test/hostile-packs.ts';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const LIMIT_BYTES = 2_000_000;
const CANARY = '/tmp/keelson-hostile-canary';
const MIB = 1024 * 1024;

const repositories = await startRepositoryHarness({
  config: { workspaceFetchLimitBytes: LIMIT_BYTES },
});
const { harness, server, connect, repositoryOf, versionsOf, reset } = repositories;
/** Counts what it is asked, which must be nothing. */
let forbidden = 0;
const inner = createServer((_request, response) => {
  forbidden += 1;
  response.end('secret');
});
await once(inner.listen(0, '127.0.0.1'), 'listening');
const INNER = `127.0.0.1:${(inner.address() as AddressInfo).port}`;
afterAll(async () => {
  inner.close();
  await repositories[Symbol.asyncDispose]();
});
beforeEach(reset);

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Bytes in place of an answer. */
const raw =
  (...parts: readonly (string | Buffer)[]): Answer =>
  (_request, response) =>
    response.socket?.end(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

const head = (status: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, 'Connection: close', '', ''].join('\r\n');

const redirect = (location: string): Answer =>
  raw(head('302 Found', `Location: ${location}`, 'Content-Length: 0'));

const ADVERTISED = 'Content-Type: application/x-git-upload-pack-advertisement';

const withBody = (body: string | Buffer, ...headers: readonly string[]): Answer =>
  raw(head('200 OK', ADVERTISED, `Content-Length: ${Buffer.byteLength(body)}`, ...headers), body);

/** Zeros that gzip has packed. @param parts of 64 MiB each */
const unpackingTo = (parts: number): Buffer => {
  const finishFlush = constants.Z_FULL_FLUSH;
  const part = deflateRawSync(Buffer.alloc(64 * MIB), { finishFlush });
  const begin = Buffer.from('1f8b0800000000000003', 'hex');
  return Buffer.concat([begin, ...Array.from({ length: parts }, () => part)]);
};

const REDIRECTED = 'error: 302';
const CUT =
  /git: .*(?:Empty reply|HTTP\/0\.9|Recv failure|reset by peer|error: 502|transfer closed|unexpected)/;

const EMPTY_TREE = objectId('tree', Buffer.alloc(0));
const COMMIT = commitContent(EMPTY_TREE);
const TIP = objectId('commit', COMMIT);
const HONEST = [entry('commit', COMMIT), entry('tree', Buffer.alloc(0))];

const packed =
  (tip: string, entries: readonly Buffer[], count?: number): Answer =>
  (request, response) =>
    answerFetch(request, response, tip, inPackets(packOf(entries, count)));

const branched =
  (branch: string): Answer =>
  (request, response) =>
    answerFetch(request, response, TIP, inPackets(packOf(HONEST)), branch);

const forever = function* (piece: Buffer): Generator<Buffer> {
  for (let sent = 0; sent < 10 * LIMIT_BYTES; sent += piece.byteLength) yield piece;
};

const BASE = Buffer.alloc(16 * MIB - 1);
const packedBase = entry('blob', BASE);
const deltaOf = (times: number): Buffer => {
  const delta = repeatingDelta(BASE.byteLength, times);
  return entry('ofs-delta', delta, { base: distance(packedBase.byteLength) });
};
const refDelta = (base: string): Buffer =>
  entry('ref-delta', repeatingDelta(10, 1), { base: Buffer.from(base, 'hex') });

const deepTags = (depth: number): { readonly tip: string; readonly entries: readonly Buffer[] } => {
  const entries = [...HONEST];
  let tip = TIP;
  for (let level = 0; level < depth; level += 1) {
    const content = tagContent(tip, level === 0 ? 'commit' : 'tag');
    entries.push(entry('tag', content));
    tip = objectId('tag', content);
  }
  return { tip, entries };
};
const tags = deepTags(5000);

const oddTree = (...entries: readonly (readonly [string, string, string])[]): Answer => {
  const tree = treeContent(...entries);
  const commit = commitContent(objectId('tree', tree));
  const blob = Buffer.from('x');
  const all = [entry('commit', commit), entry('tree', tree), entry('blob', blob)];
  return packed(objectId('commit', commit), all);
};
const BLOB = objectId('blob', Buffer.from('x'));

const LARGE = `the repository is larger than the ${LIMIT_BYTES} bytes that a fetch may transfer`;

const ATTEMPTS: readonly (readonly [string, string | RegExp | null, Answer])[] = [
  // Statuses and headers.
  ['the status 042', 'the status 42', raw(head('042 Odd', 'Content-Length: 2'), 'no')],
  ['the status 000', 'the status 0', raw(head('000 None', 'Content-Length: 2'), 'no')],
  ['a status of five digits', CUT, raw(head('99999 Odd'))],
  ['another protocol than HTTP', CUT, raw('SSH-2.0-odd\r\n')],
  ['no answer but the end of the connection', CUT, raw('')],
  ['the end within the head', CUT, raw('HTTP/1.1 200 O')],
  [
    'a switch of protocols that nobody asked for',
    'the server answered with the status 101',
    raw(head('101 Switching', 'Upgrade: odd')),
  ],
  [
    'no end of preliminary answers',
    CUT,
    (_request, { socket }) => {
      for (const piece of forever(
        Buffer.from(head('103 Early Hints', `Link: <${'x'.repeat(8000)}>`)),
      ))
        socket?.write(piece);
      socket?.end();
    },
  ],
  ['a head of 100 kB', CUT, raw(head('200 OK', `X: ${'x'.repeat(100_000)}`))],
  [
    '10,000 headers',
    CUT,
    raw(head('200 OK', ...Array.from({ length: 10_000 }, (_, at) => `X-${at}: 1`))),
  ],
  ['headers that end in odd bytes', CUT, raw('HTTP/1.1 200 OK\r\nX\0: 1\r\n\r\n')],
  ['two lengths', CUT, raw(head('200 OK', 'Content-Length: 2', 'Content-Length: 7'), 'no')],
  ['a negative length', CUT, raw(head('200 OK', 'Content-Length: -1'), 'no')],
  [
    'a chunk of 2^64 bytes',
    CUT,
    raw(head('200 OK', 'Transfer-Encoding: chunked'), 'FFFFFFFFFFFFFFFFF\r\nno'),
  ],
  ['trailers', 'git: ', withBody('no', 'Trailer: x')],
  [
    'trailers, and no type',
    'the repository has no commits yet',
    raw(head('200 OK', 'Trailer: x', 'Content-Length: 2'), 'no'),
  ],
  ['less than it announced', CUT, raw(head('200 OK', ADVERTISED, 'Content-Length: 999'), 'no')],
  [
    'a sign-in for a proxy',
    /error: 407|407/,
    raw(head('407 No', 'Proxy-Authenticate: Basic realm="x"', 'Content-Length: 0')),
  ],
  [
    'a sign-in by a negotiation',
    /Authentication failed|error: 401/,
    raw(head('401 No', 'WWW-Authenticate: Negotiate', 'Content-Length: 0')),
  ],
  // Redirects, none of which is followed.
  ['a redirect to loopback', REDIRECTED, redirect(`http://${INNER}/a.git/info/refs`)],
  ['a redirect to a private address', REDIRECTED, redirect('http://10.0.0.1/')],
  [
    'a redirect to the metadata of a cloud',
    REDIRECTED,
    redirect('http://169.254.169.254/latest/meta-data/'),
  ],
  ['a redirect to a file', REDIRECTED, redirect('file:///etc/passwd')],
  [
    'a redirect to SSH',
    REDIRECTED,
    redirect('ssh://-oProxyCommand=touch%20/tmp/keelson-hostile-canary/x'),
  ],
  ['a redirect to a command', REDIRECTED, redirect(`ext::sh -c "touch ${CANARY}"`)],
  ['a redirect to itself', REDIRECTED, redirect('?again')],
  // The advertisement of references.
  [
    'a body that unpacks to 1.25 GiB',
    'it used more than',
    (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/x-git-upload-pack-advertisement',
        'content-encoding': 'gzip',
      });
      // It does not end: memory is measured four times a second, and a fast machine unpacks it between two looks.
      response.write(unpackingTo(20));
    },
  ],
  ['packets of an odd length', 'git: ', withBody('zzzz')],
  [
    'a packet that ends early',
    'git: ',
    withBody(Buffer.concat([packet('# service=git-upload-pack\n'), FLUSH, Buffer.from('fff0')])),
  ],
  [
    'no end of references',
    LARGE,
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      response.write(Buffer.concat([packet('# service=git-upload-pack\n'), FLUSH]));
      for (const piece of forever(packet(`${TIP} refs/heads/${'x'.repeat(60_000)}\n`)))
        response.write(piece);
      response.end();
    },
  ],
  [
    'an error with the codes of a terminal',
    /^git: remote error: \S*plain/,
    withBody(
      Buffer.concat([
        packet('# service=git-upload-pack\n'),
        FLUSH,
        packet('ERR \u001b]0;title\u0007\u001b[31mplain'),
      ]),
    ),
  ],
  [
    'a default branch that is an option',
    /couldn't find remote ref|git: /,
    branched('refs/heads/--upload-pack=touch${IFS}/tmp/keelson-hostile-canary'),
  ],
  [
    'a default branch with a second reference',
    'the repository has no commits yet',
    branched('refs/heads/a:refs/heads/b'),
  ],
  [
    'a default branch that is a pattern',
    'the repository has no commits yet',
    branched('refs/heads/*'),
  ],
  [
    'a default branch outside of the folder',
    'the repository has no commits yet',
    branched('refs/heads/../../../config'),
  ],
  [
    'the address of a bundle',
    null,
    (request, response) => {
      if (request.method === 'GET') request.url += '&bundle-uri';
      return answerFetch(request, response, TIP, inPackets(packOf(HONEST)));
    },
  ],
  // Packs.
  ['a pack without the commit', 'git: ', packed('1'.repeat(40), HONEST)],
  [
    'a pack with a false checksum',
    'git: ',
    (request, response) => {
      const pack = packOf(HONEST);
      pack.writeUInt8(pack.readUInt8(pack.byteLength - 1) ^ 1, pack.byteLength - 1);
      return answerFetch(request, response, TIP, inPackets(pack));
    },
  ],
  [
    'a pack that ends early',
    'git: ',
    (request, response) =>
      answerFetch(request, response, TIP, inPackets(packOf(HONEST).subarray(0, 40))),
  ],
  ['a pack that announces 2^32 objects', 'git: ', packed(TIP, HONEST, 2 ** 32 - 1)],
  [
    'an object that announces 2^62 bytes',
    'git: ',
    packed(TIP, [...HONEST, entry('blob', Buffer.alloc(9), { declaredBytes: 2n ** 62n })]),
  ],
  [
    'an object with more bytes than it announces',
    'git: ',
    packed(TIP, [...HONEST, entry('blob', Buffer.alloc(9999), { declaredBytes: 9 })]),
  ],
  ['a delta that unpacks to 16 GiB', 'git: ', packed(TIP, [...HONEST, packedBase, deltaOf(1024)])],
  [
    'deltas of each other',
    'git: ',
    packed(TIP, [...HONEST, refDelta('2'.repeat(40)), refDelta('3'.repeat(40))]),
  ],
  ['5,000 tags of each other', 'git: ', packed(tags.tip, tags.entries)],
  [
    'no end of progress',
    LARGE,
    (request, response) =>
      answerFetch(request, response, TIP, forever(packet(`\u0002${'x'.repeat(60_000)}`))),
  ],
  [
    'a commit whose tree is a file',
    'git: ',
    (() => {
      const commit = commitContent(BLOB);
      return packed(objectId('commit', commit), [
        entry('commit', commit),
        entry('blob', Buffer.from('x')),
      ]);
    })(),
  ],
  [
    'a commit with a message of 10 MB',
    null,
    (() => {
      const commit = commitContent(EMPTY_TREE, 'x'.repeat(10_000_000));
      return packed(objectId('commit', commit), [
        entry('commit', commit),
        entry('tree', Buffer.alloc(0)),
      ]);
    })(),
  ],
  // Names in a tree.
  ['a folder .git', 'git: ', oddTree(['40000', '.git', EMPTY_TREE])],
  ['a folder .GIT', 'git: ', oddTree(['40000', '.GIT', EMPTY_TREE])],
  ['a folder git~1', 'git: ', oddTree(['40000', 'git~1', EMPTY_TREE])],
  [
    'a folder .git with a character that is not shown',
    'git: ',
    oddTree(['40000', '.g\u200cit', EMPTY_TREE]),
  ],
  ['a file "..", which leads out of the folder', 'git: ', oddTree(['100644', '..', BLOB])],
  ['a file "."', 'git: ', oddTree(['100644', '.', BLOB])],
  ['a file without a name', 'git: ', oddTree(['100644', '', BLOB])],
  ['a file with an absolute path', 'git: ', oddTree(['100644', '/etc/passwd', BLOB])],
  ['a file with a path', 'git: ', oddTree(['100644', '../../etc/passwd', BLOB])],
  ['.gitmodules as a link', 'git: ', oddTree(['120000', '.gitmodules', BLOB])],
  ['a device, which git takes for a link to a submodule', null, oddTree(['20644', 'device', BLOB])],
  ['two files with one name', 'git: ', oddTree(['100644', 'a', BLOB], ['100644', 'a', BLOB])],
];

const NO_PROBLEM = 'no problem';
const folders = new WorkerFolders();

test.for(ATTEMPTS)('%s: held by %s', async ([, heldBy, answer]) => {
  const { id } = await connect();
  server.beforeGit = (request, response) => {
    folders.note();
    void answer(request, response);
    return true;
  };
  await harness.runUpkeep();
  const { problem } = await repositoryOf(id);
  expect(problem ?? NO_PROBLEM).toMatch(heldBy ?? NO_PROBLEM);
});

test('afterwards a polite repository is fetched, and nothing of the attempts remains', async () => {
  const { id } = await connect();
  await harness.runUpkeep();
  expect((await repositoryOf(id))['problem']).toBeNull();
  expect((await versionsOf(id)).list[0]?.attributes['status']).toBe('uploaded');
  expect([forbidden, existsSync(CANARY)]).toEqual([0, false]);
  expect(findFetchWorkers()).toEqual([]);
  expect(folders.count).toBe(ATTEMPTS.length);
  expect(folders.left).toEqual([]);
  // Only what needs more memory than a worker may use ends one.
  expect(await harness.registry.metrics()).toContain('keelson_worker_deaths_total{kind="limit"} 1');
});
