/** A link to an address that another system sent: plain text unless it is http or https. */
import { Anchor } from './anchor.tsx';
export const WebLink = ({ href, text }: { href: string | null; text: string }) =>
  href !== null && /^https?:\/\//i.test(href) ? (
    <Anchor href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </Anchor>
  ) : (
    <span>{text}</span>
  );
