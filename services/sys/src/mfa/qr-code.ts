/** The picture that an authenticator app reads. */

/** A PNG whose edge has about `pixels`, since each square of the code has as many whole pixels as any other. */
export const qrCode = async (text: string, pixels: number): Promise<Buffer> => {
  // Loaded by the first enrolment, which few processes see: each library costs memory.
  const [{ PNG }, { default: encodeQr }] = await Promise.all([import('pngjs'), import('qr')]);
  const squares = encodeQr(text, 'raw', { border: 2 });
  const scale = Math.max(1, Math.floor(pixels / squares.length));
  const edge = squares.length * scale;
  const picture = new PNG({ width: edge, height: edge, colorType: 0 });
  for (let y = 0; y < edge; y += 1)
    for (let x = 0; x < edge; x += 1) {
      const isDark = squares[Math.floor(y / scale)]?.[Math.floor(x / scale)] === true;
      picture.data.fill(isDark ? 0 : 255, (y * edge + x) * 4, (y * edge + x) * 4 + 3);
      picture.data[(y * edge + x) * 4 + 3] = 255;
    }
  return PNG.sync.write(picture, { colorType: 0 });
};
