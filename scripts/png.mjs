// Reduces a PNG file (https://www.w3.org/TR/png-3/) to a palette of 256 colors: a picture of the page has few, apart from the edges of letters.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLORS = 256;

/** Returns the picture with a palette. `png` has 8 bits for each of red, green, blue and perhaps alpha, as browsers write it. */
export function withPalette(png) {
  const chunks = readChunks(png);
  const header = chunks.find(({ type }) => type === 'IHDR').data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[header[9]];
  if (header[8] !== 8 || channels === undefined || header[12] !== 0)
    throw new Error('the picture has another format than browsers write');
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data));
  const colors = readColors(inflateSync(data), { width, height, channels });
  const palette = frequentColors(colors);
  const nearest = nearestIn(palette);
  const rows = Buffer.alloc(height * (width + 1));
  for (const [index, color] of colors.entries()) rows[index + Math.floor(index / width) + 1] = nearest(color);
  header.set([8, 3], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function readChunks(png) {
  const chunks = [];
  for (let place = SIGNATURE.length; place < png.length; ) {
    const length = png.readUInt32BE(place);
    const type = png.toString('latin1', place + 4, place + 8);
    chunks.push({ type, data: Buffer.from(png.subarray(place + 8, place + 8 + length)) });
    place += length + 12;
  }
  return chunks;
}

function chunk(type, data) {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

/** Reverses the filter of each row (PNG, section 9), and returns the pixels as numbers 0xRRGGBB. */
function readColors(filtered, { width, height, channels }) {
  const length = width * channels;
  const bytes = Buffer.alloc(height * length);
  for (let row = 0; row < height; row += 1) {
    const filter = filtered[row * (length + 1)];
    for (let column = 0; column < length; column += 1) {
      const place = row * length + column;
      const left = column < channels ? 0 : bytes[place - channels];
      const above = row === 0 ? 0 : bytes[place - length];
      const aboveLeft = row === 0 || column < channels ? 0 : bytes[place - length - channels];
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, aboveLeft)][filter];
      bytes[place] = filtered[place + row + 1] + predicted;
    }
  }
  return Array.from({ length: width * height }, (_, pixel) => bytes.readUIntBE(pixel * channels, 3));
}

function paeth(left, above, aboveLeft) {
  const estimate = left + above - aboveLeft;
  const distances = [left, above, aboveLeft].map((value) => Math.abs(estimate - value));
  return [left, above, aboveLeft][distances.indexOf(Math.min(...distances))];
}

/** Colors that differ less than this from a more frequent one are left out: the sum of the squares of the differences. */
const LEAST_DISTANCE = 40;

function frequentColors(colors) {
  const counts = new Map();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [];
  for (const [color] of [...counts].sort(([, left], [, right]) => right - left)) {
    if (palette.length === COLORS) break;
    if (palette.every((other) => distance(channelsOf(other), channelsOf(color)) > LEAST_DISTANCE))
      palette.push(color);
  }
  return palette;
}

function distance(left, right) {
  return left.reduce((sum, value, index) => sum + (value - right[index]) ** 2, 0);
}

function nearestIn(palette) {
  const found = new Map(palette.map((color, index) => [color, index]));
  const entries = palette.map(channelsOf);
  return (color) => {
    const known = found.get(color);
    if (known !== undefined) return known;
    const wanted = channelsOf(color);
    const distances = entries.map((entry) => distance(entry, wanted));
    const index = distances.indexOf(Math.min(...distances));
    found.set(color, index);
    return index;
  };
}

function channelsOf(color) {
  return [color >> 16, (color >> 8) & 255, color & 255];
}
