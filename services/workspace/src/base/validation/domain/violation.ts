/** A fault in one field of the request document. */
export interface Violation {
  /** RFC 6901 pointer: "/data/attributes/name". */
  readonly pointer: string;
  readonly text: string;
}

/** A violation of one attribute. */
export const attributeViolation = (name: string, text: string): Violation => ({
  pointer: `/data/attributes/${name}`,
  text,
});
