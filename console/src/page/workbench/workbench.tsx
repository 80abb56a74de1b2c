export function WorkbenchPage() {
  return (
    <div className="page-head">
      <h1>Workbench</h1>
    </div>
  );
}
