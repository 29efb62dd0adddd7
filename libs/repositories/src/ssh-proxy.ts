/**
 * The connection of one ssh process to its host, through the egress proxy of the fetch: ssh starts this program
 * with a host and a port (`ProxyCommand`), and the address of the proxy in its environment.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

const [host = '', port = ''] = process.argv.slice(2);
// oxlint-disable-next-line node/no-process-env -- what the fetch has set; no setting is read
const proxy = new URL(process.env['KEELSON_EGRESS_PROXY'] ?? '');
const credentials = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
const connecting = request({
  host: proxy.hostname,
  port: proxy.port,
  method: 'CONNECT',
  path: `${host}:${port}`,
  headers: { 'proxy-authorization': `Basic ${credentials}` },
});
connecting.end();
const [{ statusCode }, socket, head] = (await once(connecting, 'connect')) as [
  IncomingMessage,
  Socket,
  Buffer,
];
if (statusCode !== 200) process.exit(1);
process.stdout.write(head);
socket.pipe(process.stdout);
process.stdin.pipe(socket);
await once(socket, 'close');
