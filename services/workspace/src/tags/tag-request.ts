import { nullable } from '@keelson/jsonapi';
import { Type } from 'typebox';

/** One binding in a request, whether of a workspace, a project or the list itself. */
export const GIVEN_BINDING = Type.Object({
  // One is in use as well as the name of the resource.
  type: Type.Optional(Type.Union([Type.Literal('tag-bindings'), Type.Literal('tag-binding')])),
  attributes: Type.Object({
    key: Type.String({ maxLength: 128 }),
    value: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
  }),
});

/** As a relationship; one with links alone, as it is shown, says nothing. */
export const GIVEN_BINDINGS = Type.Object({
  data: Type.Optional(Type.Array(GIVEN_BINDING, { maxItems: 100 })),
});
