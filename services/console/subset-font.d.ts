/** The package has no types of its own. */
declare module 'subset-font' {
  /** @returns a font with these characters alone, and with its variation axes narrowed */
  const subsetFont: (
    font: Buffer,
    characters: string,
    options: {
      readonly targetFormat: 'woff2';
      readonly variationAxes: Readonly<
        Record<string, { readonly min: number; readonly max: number }>
      >;
    },
  ) => Promise<Buffer>;
  export default subsetFont;
}
