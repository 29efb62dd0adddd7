/** http-01 (RFC 8555 §8.3, RFC 8738 §3): a file on the web server of the identifier. */
import { type ChallengeAttempt, type ValidationSettings } from './challenge-attempt.ts';
import { fetchFile } from './file-fetch.ts';
import { endpoint } from './permitted-connection.ts';
import { ValidationFailure } from './validation-failure.ts';

const MAX_REDIRECTS = 10;
const MAX_URL_CHARACTERS = 2000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect, if it may be followed. Errors never show the target to the client. */
const followRedirect = (
  from: URL,
  location: string | undefined,
  { ports }: ValidationSettings,
): URL => {
  const refuse = (why: string): never => {
    throw new ValidationFailure('connection', `${from.host} redirects ${why}`);
  };
  if (location === undefined) return refuse('without a location');
  if (location.length > MAX_URL_CHARACTERS)
    return refuse(`to a URL longer than ${MAX_URL_CHARACTERS} characters`);
  if (!URL.canParse(location, from.href)) return refuse('to something that is no URL');
  const to = new URL(location, from.href);
  if (to.protocol !== 'http:' && to.protocol !== 'https:') return refuse('to another scheme');
  if (to.username !== '' || to.password !== '') return refuse('to a URL with credentials');
  const port = Number(to.port);
  if (to.port !== '' && port !== ports.http && port !== ports.tls)
    return refuse(`to a port other than ${ports.http} and ${ports.tls}`);
  return to;
};

export const validateHttp01 = async (
  { identifier, token, keyAuthorization }: ChallengeAttempt,
  settings: ValidationSettings,
  signal: AbortSignal,
): Promise<void> => {
  const path = `/.well-known/acme-challenge/${token}`;
  let url = new URL(`http://${endpoint(identifier.value, settings.ports.http)}${path}`);
  for (let redirects = 0; ; redirects += 1) {
    const { status, location, body } = await fetchFile(url, settings, signal);
    if (REDIRECTS.has(status)) {
      if (redirects === MAX_REDIRECTS)
        throw new ValidationFailure('connection', `more than ${MAX_REDIRECTS} redirects`);
      url = followRedirect(url, location, settings);
      continue;
    }
    if (status !== 200)
      throw new ValidationFailure('incorrectResponse', `${url.host} answered with ${status}`);
    if (body.trimEnd() !== keyAuthorization)
      throw new ValidationFailure(
        'incorrectResponse',
        `${url.host} answered with something else than the key authorization`,
      );
    return;
  }
};
