/** Adds warnings to finished responses, in their `meta`, as `withWarnings` does. */
import { type EdgeResponse, edgeResponse } from '@keelson/edge';
import { type JsonApiDocument, withWarnings } from './document.ts';
import { JSON_API_MEDIA_TYPE } from './error-document.ts';

export const metaWarnings = {
  /** The response to a request that would otherwise be answered with 204. */
  inPlaceOfNothing: (text: string): EdgeResponse =>
    edgeResponse(
      200,
      { 'content-type': JSON_API_MEDIA_TYPE },
      Buffer.from(JSON.stringify(withWarnings([text]))),
    ),
  /** The document with one more warning. */
  inDocument: (document: object, text: string): object => {
    const { meta } = document as Partial<JsonApiDocument>;
    const known = meta?.['warnings'];
    return {
      ...document,
      meta: { ...meta, warnings: [...(Array.isArray(known) ? known : []), text] },
    };
  },
};
