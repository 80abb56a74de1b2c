import { Link } from 'wouter';
import { explorePath } from './address.ts';

/** Leads to the lines of a source. */
export function ExploreLink({ source }: { readonly source: string }) {
  return (
    <Link href={explorePath({ source: [source] })} className="small">
      Explore<span className="visually-hidden"> {source}</span>
    </Link>
  );
}
