/** @throws DOMException when the text is not base64 */
export const bytesOfBase64 = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (byte) => byte.codePointAt(0) ?? 0);
