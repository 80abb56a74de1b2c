SELECT toString(intDiv(toUnixTimestamp(toDateTime64(@now, 6, 'UTC')), @seconds)) AS interval
