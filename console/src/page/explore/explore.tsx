export function ExplorePage() {
  return (
    <div className="page-head">
      <h1>Explore</h1>
    </div>
  );
}
