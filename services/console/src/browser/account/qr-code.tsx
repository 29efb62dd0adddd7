import encodeQr from 'qr';

/** Squares that scanners need around the code. */
const QUIET = 4;

/** A QR code, dark on white also where the page is dark: scanners expect it. */
export const QrCode = ({ text, label }: { text: string; label: string }) => {
  const squares = encodeQr(text, 'raw', { border: QUIET });
  const dark = squares.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      role="img"
      aria-label={label}
      width="200"
      height="200"
      viewBox={`0 0 ${squares.length} ${squares.length}`}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
};
