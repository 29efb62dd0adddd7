import { nullable } from '@keelson/jsonapi';
import { Type } from 'typebox';

/** One binding in a request about a workspace, a project or the list of bindings. */
export const GIVEN_BINDING = Type.Object({
  // Clients send one of these two types.
  type: Type.Optional(Type.Union([Type.Literal('tag-bindings'), Type.Literal('tag-binding')])),
  attributes: Type.Object({
    key: Type.String({ maxLength: 128 }),
    value: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
  }),
});

/** Bindings as a relationship. A relationship with only links, as responses contain it, changes nothing. */
export const GIVEN_BINDINGS = Type.Object({
  data: Type.Optional(Type.Array(GIVEN_BINDING, { maxItems: 100 })),
});
