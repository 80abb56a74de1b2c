import { saveFile } from '../../ui/save-file.ts';

// The largest side that browsers draw.
const SIDE_PX_MAX = 16_000;
const MARGIN_PX = 16;

/** Saves what an element shows as a PNG: its boxes, texts and charts. Controls are left out. */
export async function savePicture(root: HTMLElement, name: string): Promise<void> {
  const canvas = drawPicture(root);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob !== null) saveFile(blob, `${name}.png`);
}

const LEFT_OUT =
  'button, input, select, .dashboard-actions, .time-range, .visually-hidden, .dashboard-panel-head a';

function drawPicture(root: HTMLElement): HTMLCanvasElement {
  const box = root.getBoundingClientRect();
  const [width, height] = [box.width + 2 * MARGIN_PX, box.height + 2 * MARGIN_PX];
  const scale = Math.min(Math.max(devicePixelRatio, 2), SIDE_PX_MAX / Math.max(width, height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) return canvas;
  context.scale(scale, scale);
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, width, height);
  context.translate(MARGIN_PX - box.left, MARGIN_PX - box.top);
  drawElement(context, root);
  return canvas;
}

function drawElement(context: CanvasRenderingContext2D, element: Element): void {
  if (element.matches(LEFT_OUT)) return;
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.visibility === 'hidden') return;
  const box = element.getBoundingClientRect();
  if (element instanceof HTMLCanvasElement) {
    context.drawImage(element, box.left, box.top, box.width, box.height);
    return;
  }
  if (element instanceof SVGSVGElement) {
    drawSvg(context, element, box);
    return;
  }
  drawBox(context, style, box);
  context.save();
  if (style.overflowY !== 'visible') {
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
  }
  for (const child of element.childNodes) {
    if (child instanceof Text) drawText(context, child, style);
    else if (child instanceof Element) drawElement(context, child);
  }
  context.restore();
}

const NO_COLOR = 'rgba(0, 0, 0, 0)';

function drawBox(context: CanvasRenderingContext2D, style: CSSStyleDeclaration, box: DOMRect): void {
  const border = Number.parseFloat(style.borderTopWidth);
  if (style.backgroundColor === NO_COLOR && !(border > 0)) return;
  context.beginPath();
  context.roundRect(
    box.left,
    box.top,
    box.width,
    box.height,
    Number.parseFloat(style.borderTopLeftRadius) || 0,
  );
  context.fillStyle = style.backgroundColor;
  context.fill();
  if (!(border > 0) || style.borderTopStyle === 'none') return;
  context.lineWidth = border;
  context.strokeStyle = style.borderTopColor;
  context.stroke();
}

/** Draws each word where the page has it. */
function drawText(context: CanvasRenderingContext2D, node: Text, style: CSSStyleDeclaration): void {
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textBaseline = 'middle';
  const range = document.createRange();
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    if (box.width > 0) context.fillText(word, box.left, box.top + box.height / 2);
  }
}

/** Draws the lines of a sparkline, whose view box is stretched. */
function drawSvg(context: CanvasRenderingContext2D, svg: SVGSVGElement, box: DOMRect): void {
  const { width, height } = svg.viewBox.baseVal;
  if (width === 0 || height === 0) return;
  for (const line of svg.querySelectorAll('polyline')) {
    const style = getComputedStyle(line);
    context.beginPath();
    for (const { x, y } of line.points)
      context.lineTo(box.left + (x / width) * box.width, box.top + (y / height) * box.height);
    context.strokeStyle = style.stroke;
    context.lineWidth = 1.5;
    context.stroke();
  }
}
