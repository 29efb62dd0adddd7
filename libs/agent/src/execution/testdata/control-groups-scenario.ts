/**
 * A plan whose tool needs more memory than a run may have, and leaves a process: printed as JSON. Executed in a machine
 * that has control groups, in a sandbox (`sandbox`) or without one.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { type ClaimedPhase, ControlPlane } from '../../control-plane.ts';
import { executePhase, type Place } from '../execution.ts';
import { preparePlaces } from '../machine.ts';

const run = promisify(execFile);
const PROGRAM = {
  name: 'agent',
  prefix: 'KEELSON_AGENT_',
  unsafe: 'KEELSON_AGENT_EXECUTION=unsafe',
};
/** The machine has 1 GiB, of which a run may have half. Each process has less, and both together have more. */
const TOOL = `#!/bin/sh
case "$1" in
version) printf '{"terraform_version":"1.9.9","platform":"here"}' ;;
plan)
  setsid sh -c 'trap "" TERM HUP INT; exec tail -f /dev/null' >/dev/null 2>&1 &
  mkfifo ended
  for _ in 1 2; do (perl -e 'vec($x, 300 << 20, 8) = 1; sleep' || echo "a process was ended" >ended) >/dev/null 2>&1 & done
  read -r line <ended
  echo "$line"
  exit 1 ;;
esac
`;

await using directory = await temporaryDirectory();
await chmod(directory.path, 0o711);
await writeFile(join(directory.path, 'main.tf'), '');
const archive = join(directory.path, 'configuration.tar.gz');
await run('tar', ['-czf', archive, '-C', directory.path, 'main.tf']);
const tool = join(directory.path, 'terraform');
await writeFile(tool, TOOL, { mode: 0o755 });
const bodies: string[] = [];
const server = createServer((request, response) => {
  void text(request).then(async (body) => {
    bodies.push(body);
    if (request.url === '/configuration') response.end(await readFile(archive));
    else response.writeHead(204).end();
  });
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const places = join(directory.path, 'places');
await mkdir(places, { mode: 0o711 });

const confinement =
  process.argv[2] === 'sandbox' ? { ranges: [], readable: [directory.path] } : undefined;
const said: string[] = [];
const note = (values: object, event: string) => void said.push(`${event} ${JSON.stringify(values)}`);
const log = { info: note, warn: note, error: note };
const settings = { folder: places, firstUserId: undefined };
const toPlace = await preparePlaces(PROGRAM, settings, confinement?.ranges, log);
const place: Place = {
  ...toPlace(0),
  program: PROGRAM,
  confinement,
  controlPlane: new ControlPlane(address, 'of-the-pool'),
  task: { address, host: 'keelson.example', timeLimitSeconds: 60, outputLimitBytes: 1024 * 1024 },
  environment: { PATH: process.env['PATH'] ?? '' },
  caFile: undefined,
  cliConfigFile: undefined,
  log,
};
const attributes = {
  phase: 'plan',
  'is-assessment': false,
  'workspace-name': 'network',
  'working-directory': '',
  'configuration-download-url': `${address}/configuration`,
  'state-download-url': null,
  'runtime-version': null,
  'target-addrs': [],
  'replace-addrs': [],
  variables: [],
};
const phase = { runId: 'run-one', agentId: 'agent-one', token: 'of-the-run', attributes };
await executePhase(
  place,
  phase as unknown as ClaimedPhase,
  () => Promise.resolve(tool),
  new AbortController().signal,
);
server.close();
const left = await run('pgrep', ['-x', 'tail|perl']).catch(({ stdout }) => ({ stdout }));
process.stdout.write(
  `${JSON.stringify({
    log: bodies.some((body) => body.includes('a process was ended')),
    left: left.stdout,
    said: said.filter((line) => !line.includes('without a sandbox')),
  })}\n`,
);
