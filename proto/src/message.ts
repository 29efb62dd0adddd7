/** The part of a generated message description that knows the default value of each field. */
interface MessageType<T> {
  readonly decode: (input: Uint8Array) => T;
}

const NO_BYTES = new Uint8Array();

/** A message with the given fields; all others have the default value of their type, as after decoding. */
export const messageOf = <T extends object>(type: MessageType<T>, fields: Partial<T> = {}): T => ({
  ...type.decode(NO_BYTES),
  ...fields,
});
