/**
 * Variables that begin with `KEELSON_` without being a setting of a server. They are in the environment of every shell
 * that also uses the command line, and of every container in a Kubernetes namespace with a Service named keelson.
 */

/** Variables of the command line, of compose, and of the tools that runs use. */
const OTHER_PROGRAMS: ReadonlySet<string> = new Set([
  'KEELSON_ADDR',
  'KEELSON_API_TOKEN',
  'KEELSON_CACERT',
  'KEELSON_CONFIG_DIR',
  'KEELSON_IMAGE',
  'KEELSON_TOKEN',
  'KEELSON_TOOLS_FOLDER',
]);

/** All variables of the agent, which refuses unknown ones itself. */
const AGENT = /^KEELSON_AGENT_/;

/** Service links that Kubernetes adds for each Service: `<NAME>_SERVICE_HOST`, `<NAME>_PORT_8200_TCP_ADDR` and others. */
const SERVICE_LINK = /^KEELSON_(\w+_)?(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP))(_\w+)?$/;
/** `<NAME>_PORT` is a service link only if its value is an address: `KEELSON_PORT=8200` is a mistake to report. */
const SERVICE_PORT = /^KEELSON_(\w+_)?PORT$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** Whether an undeclared `KEELSON_*` variable has another reader than the server, which therefore ignores it. */
export const isForeign = (key: string, value: string | undefined): boolean =>
  OTHER_PROGRAMS.has(key) ||
  AGENT.test(key) ||
  SERVICE_LINK.test(key) ||
  (SERVICE_PORT.test(key) && SERVICE_ADDRESS.test(value ?? ''));
