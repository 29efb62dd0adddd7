/** Request documents of state versions. */
import { invalidAttribute, nullable, resourceBody } from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import type { StateInput } from './state-version-operations.ts';

const base64 = Type.Optional(nullable(Type.String()));
const one = (type: string) =>
  Type.Object({
    data: Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
  });

export const CREATE_STATE_VERSION = resourceBody(
  'state-versions',
  Type.Object({
    serial: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    md5: Type.String({ pattern: '^[0-9a-fA-F]{32}$' }),
    lineage: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
    force: Type.Optional(nullable(Type.Boolean())),
    intermediate: Type.Optional(nullable(Type.Boolean())),
    state: base64,
    'json-state': base64,
    'json-state-outputs': base64,
  }),
  Type.Object({ run: Type.Optional(nullable(one('runs'))) }),
);

export const ROLL_BACK_STATE = resourceBody(
  'state-versions',
  Type.Object({}),
  Type.Object({ 'rollback-state-version': one('state-versions') }),
);

type CreateDocument = Static<typeof CREATE_STATE_VERSION>;

export const toGivenState = ({ data }: CreateDocument): StateInput => {
  const { serial, md5, lineage, force, intermediate } = data.attributes;
  return {
    serial,
    md5: md5.toLowerCase(),
    lineage: lineage || null,
    isForced: force === true,
    isIntermediate: intermediate === true,
    runId: data.relationships?.run?.data.id ?? null,
  };
};

const withoutPadding = (base64: string): string => base64.replace(/(?<!=)=+$/, '');

/** @throws KeelsonError `jsonapi.invalid_attribute` */
export const decodeInline = (
  { data }: CreateDocument,
  name: 'state' | 'json-state',
): Buffer | undefined => {
  const text = data.attributes[name];
  if (text == null || text === '') return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (withoutPadding(bytes.toString('base64')) !== withoutPadding(text)) {
    throw invalidAttribute(`/data/attributes/${name}`, `${name} is not base64`);
  }
  return bytes;
};
