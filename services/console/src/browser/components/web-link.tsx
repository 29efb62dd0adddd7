/** A link to an address that another system sent: plain text unless it is http or https. */
export const WebLink = ({ href, text }: { href: string | null; text: string }) =>
  href !== null && /^https?:\/\//i.test(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  ) : (
    <span>{text}</span>
  );
