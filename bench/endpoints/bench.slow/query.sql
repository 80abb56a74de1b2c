SELECT count() AS n
FROM numbers_mt(30000000)
WHERE sipHash64(number) = sipHash64(@project)
