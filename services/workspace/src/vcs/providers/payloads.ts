/**
 * Parts of payloads that several providers share. Payloads are checked by schemas, field by field: the packages that
 * providers publish have their types, which check nothing of what anybody may send.
 */
import { KeelsonError } from '@keelson/errors';
import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/schema';
import { isWebUrl } from '../../base/validation/domain/web-url.ts';

const MAX_SHOWN_LENGTH = 4096;

/** A full commit hash of either kind. */
export const COMMIT = Type.String({ pattern: '^[0-9a-f]{40}(?:[0-9a-f]{24})?$' });
/** The name of a branch or tag, without the characters that git forbids. */
export const REF_NAME = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: String.raw`^[^\s~^:?*\[\\\x00-\x20\x7f]+$`,
});
export const SHOWN = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** @throws KeelsonError `request.invalid` */
export const requirePayload = <S extends TSchema>(schema: S, payload: unknown): Static<S> => {
  if (Check(schema, payload)) return payload as Static<S>;
  throw new KeelsonError('request.invalid', {
    text: 'the payload is not one of this event of the provider',
  });
};

/** The beginning of a text that people wrote. */
export const shown = (text: string | null | undefined): string =>
  (text ?? '').slice(0, MAX_SHOWN_LENGTH);

const MAX_URL_LENGTH = 2048;

/** A link to a page of the provider; null for anything but an http or https address, and for a longer one. */
export const safeUrl = (text: string | null | undefined): string | null =>
  text && text.length <= MAX_URL_LENGTH && isWebUrl(text) ? new URL(text).href : null;

/** Null for the hash of zeros, which means that there is no commit. */
export const commitOrNone = (hash: string | null | undefined): string | null =>
  hash === undefined || hash === null || /^0+$/.test(hash) ? null : hash;

/** The branch or tag of a full reference; undefined for others. */
export const splitRef = (
  ref: string,
): { readonly kind: 'push' | 'tag'; readonly name: string } | undefined => {
  if (ref.startsWith('refs/heads/')) return { kind: 'push', name: ref.slice('refs/heads/'.length) };
  if (ref.startsWith('refs/tags/')) return { kind: 'tag', name: ref.slice('refs/tags/'.length) };
  return undefined;
};

/** An address of the provider, without a trailing slash. */
export const trimUrl = (url: string): string => url.replace(/(?<!\/)\/+$/, '');

/** `:org/:repo` with each part encoded for a path. */
export const encodeSegments = (identifier: string): string =>
  identifier.split('/').map(encodeURIComponent).join('/');
